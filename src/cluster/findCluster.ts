import { setTimeout as wait } from 'node:timers/promises';
import { readFileIfThere } from '../common/files';
import { createRayClient } from '../ray/client';
import { RayError } from '../ray/rayError';
import { type ClusterRecord, loadClusterRecord } from './clusterRecord';
import { listClusterProcesses } from './processes';
import { clearAbandonedStart } from './startLock';
import { removeCluster } from './stopCluster';

const TRIES = 5;
const PAUSE_MS = 500;

/**
 * Finds the cluster that this or another window started. It is believed only when it answers by the session's name and
 * its processes are there; what is left of one that is not is cleaned up.
 */
export async function findStartedCluster(storageFolder: string): Promise<ClusterRecord | undefined> {
  await clearAbandonedStart(storageFolder);
  const record = await loadClusterRecord(storageFolder);
  if (!record) {
    return undefined;
  }
  if (await isUp(record)) {
    return record;
  }
  await removeCluster(storageFolder, record, 0);
  return undefined;
}

/** The processes without which a cluster is of no use; undefined when all are there, else what has ended. */
export async function endedPart(
  record: ClusterRecord,
): Promise<'its head process' | 'its node process' | 'its dashboard' | undefined> {
  const processes = await listClusterProcesses(record);
  const parts = [
    ['gcs_server', 'its head process'],
    ['/raylet ', 'its node process'],
    ['dashboard/dashboard.py', 'its dashboard'],
  ] as const;
  return parts.find(([mark]) => !processes.some((row) => row.commandLine.includes(mark)))?.[1];
}

async function isUp(record: ClusterRecord): Promise<boolean> {
  const token = await readFileIfThere(record.tokenFile);
  if (token === undefined || (await endedPart(record)) !== undefined) {
    return false;
  }
  const client = createRayClient({ url: record.dashboardUrl, token });
  try {
    for (let tries = 0; tries < TRIES; tries += 1) {
      try {
        return (await client.version()).sessionName === record.sessionName;
      } catch (error) {
        if (!(error instanceof RayError) || error.kind === 'unauthorized' || error.kind === 'forbidden') {
          return false;
        }
        await wait(PAUSE_MS);
      }
    }
    return false;
  } finally {
    await client.close();
  }
}
