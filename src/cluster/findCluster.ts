import { setTimeout as wait } from 'node:timers/promises';
import { readFileIfThere } from '../common/files';
import { createRayClient } from '../ray/client';
import { RayError } from '../ray/rayError';
import { type ClusterRecord, loadClusterRecord } from './clusterRecord';
import { listClusterProcesses } from './processes';
import { clearAbandonedStart } from './startLock';
import { removeCluster } from './stopCluster';

/** For the answer of a cluster whose processes are there. */
const ANSWER_LIMIT_MS = 10_000;
const PAUSE_MS = 500;

/**
 * Finds the cluster that this or another window started. It is believed only when its processes are there and nobody else
 * answers at its address; what is left of one that is not is cleaned up. One that does not answer at all may be busy, or the
 * machine has just woken up: it is found too, since a job may run on it.
 */
export async function findStartedCluster(storageFolder: string): Promise<ClusterRecord | undefined> {
  await clearAbandonedStart(storageFolder);
  const record = await loadClusterRecord(storageFolder);
  if (!record) {
    return undefined;
  }
  if (await isOurs(record)) {
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

async function isOurs(record: ClusterRecord): Promise<boolean> {
  const token = await readFileIfThere(record.tokenFile);
  if (token === undefined || (await endedPart(record)) !== undefined) {
    return false;
  }
  const client = createRayClient({ url: record.dashboardUrl, token });
  const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
  try {
    while (!signal.aborted) {
      try {
        return (await client.version({ signal })).sessionName === record.sessionName;
      } catch (error) {
        // Only a Ray that does not know our token is another one. A fault of ours may pass, and jobs may run meanwhile.
        if (error instanceof RayError && (error.kind === 'unauthorized' || error.kind === 'forbidden')) {
          return false;
        }
        await wait(PAUSE_MS);
      }
    }
    return true;
  } finally {
    await client.close();
  }
}
