import { setTimeout as wait } from 'node:timers/promises';
import { readFileIfThere } from '../common/files';
import { createRayClient, jobHasEnded, type RayClient } from '../ray/client';
import { removeClusterFolder } from './clusterFolder';
import { type ClusterRecord, removeClusterRecord, saveClusterRecord } from './clusterRecord';
import { endClusterProcesses } from './processes';
import { takeStartLock } from './startLock';
import { endWatcher } from './watcherProcess';

export interface StopOptions {
  readonly storageFolder: string;
  readonly onStage: (stage: string) => void;
}

/** A driver gets SIGTERM and, 3 s later, SIGKILL from Ray. */
const JOBS_LIMIT_MS = 5000;
const LOOK_EVERY_MS = 100;
/** What ends on SIGTERM at all has ended by then. */
const GRACE_MS = 1000;

/**
 * Stops a cluster that we started: its jobs first, then its processes, and returns when nothing of it is left.
 * Touches nothing else on the machine.
 *
 * @throws UserError when something cannot be ended.
 */
export async function stopCluster(record: ClusterRecord, options: StopOptions): Promise<void> {
  options.onStage('stopping its jobs');
  await stopJobs(record);
  options.onStage('ending its processes');
  await removeCluster(options.storageFolder, record, GRACE_MS);
}

/**
 * Ends a cluster that nobody uses, unless a window has come to it, or is coming to it, in the same moment: such a window
 * marks itself first and looks for the record then, and here it is done the other way round.
 *
 * @returns whether it was ended; not when another process is at work on it either
 */
export async function endUnusedCluster(
  storageFolder: string,
  record: ClusterRecord,
  isStillUnused: () => Promise<boolean>,
): Promise<boolean> {
  const lock = await takeStartLock(storageFolder);
  if (!lock) {
    return false;
  }
  try {
    // Were this process killed now, the next window would end the cluster.
    await lock.note(record);
    await removeClusterRecord(storageFolder, record);
    if (!(await isStillUnused())) {
      await saveClusterRecord(storageFolder, record);
      return false;
    }
    await removeCluster(storageFolder, record, GRACE_MS);
    return true;
  } finally {
    await lock.release();
  }
}

/** Ends what there still is of a cluster of ours and forgets it. */
export async function removeCluster(storageFolder: string, record: ClusterRecord, graceMs: number): Promise<void> {
  await endClusterProcesses(record, graceMs);
  await endWatcher(record.folder);
  await removeClusterFolder(record.folder);
  await removeClusterRecord(storageFolder, record);
}

/** As far as it can be done in a few seconds: what does not stop is ended with the cluster. */
async function stopJobs(record: ClusterRecord): Promise<void> {
  const token = await readFileIfThere(record.tokenFile);
  const client = createRayClient({ url: record.dashboardUrl, token });
  const signal = AbortSignal.timeout(JOBS_LIMIT_MS);
  try {
    const running = await runningJobs(client, signal);
    await Promise.all(running.map((id) => client.stopJob(id, { signal })));
    while ((await runningJobs(client, signal)).length > 0) {
      await wait(LOOK_EVERY_MS, undefined, { signal });
    }
  } catch {
    // It takes too long, or nobody answers.
  } finally {
    await client.close();
  }
}

async function runningJobs(client: RayClient, signal: AbortSignal): Promise<readonly string[]> {
  const jobs = await client.jobs({ signal });
  return jobs.flatMap((job) => (job.submissionId !== undefined && !jobHasEnded(job) ? [job.submissionId] : []));
}
