/**
 * Watches one cluster that a window has started, and ends it when no window works with it any more and nobody uses it: a
 * process of its own, since the editor gives an extension no time when a window closes, and none at all when it is killed.
 *
 *     node clusterWatcher.js STORAGE_FOLDER CLUSTER_FOLDER
 */
import { access } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { readFileIfThere } from '../common/files';
import { messageOf } from '../common/userError';
import { createRayClient, jobHasEnded } from '../ray/client';
import { RayError } from '../ray/rayError';
import { clusterPaths } from './clusterFolder';
import { type ClusterRecord, loadClusterRecord } from './clusterRecord';
import { endedPart } from './findCluster';
import { pidOf } from './processIdentity';
import { clearAbandonedStart, isBeingStarted } from './startLock';
import { endUnusedCluster } from './stopCluster';
import { countUnused, type UnusedLooks, type UseLook } from './unusedLooks';
import { runningWatcher } from './watcherProcess';
import { hasWindow } from './windows';

/** With the looks, two minutes: a window that is reloaded is back long before. Only tests name another time. */
const PAUSE_MS = Number(process.env.SHARDBOARD_WATCHER_PAUSE_MS ?? 15_000);
const LOOKS_UNTIL_END = 8;

async function main(storageFolder: string, folder: string): Promise<void> {
  say(`watches ${folder}`);
  let unused: UnusedLooks = { count: 0, at: Date.now() };
  for (;;) {
    try {
      const record = await watched(storageFolder, folder);
      if (record === 'none') {
        say('the cluster is gone');
        return;
      }
      if (record !== 'starting') {
        const look = await lookAtUse(record);
        sayWhenNew(useWords(look));
        unused = countUnused(unused, look, PAUSE_MS);
        const isStillUnused = async () => countUnused(unused, await lookAtUse(record), PAUSE_MS).count > 0;
        if (unused.count >= LOOKS_UNTIL_END && (await endUnusedCluster(storageFolder, record, isStillUnused))) {
          say('nobody used the cluster; it was ended');
          return;
        }
      }
    } catch (error) {
      say(messageOf(error));
    }
    await wait(PAUSE_MS);
  }
}

/** The cluster, when it is there and this process is the one that watches it. */
async function watched(storageFolder: string, folder: string): Promise<ClusterRecord | 'starting' | 'none'> {
  const watcher = await runningWatcher(folder);
  if (watcher !== undefined && pidOf(watcher) !== process.pid) {
    return 'none';
  }
  // Of a window that was killed while it started the cluster.
  await clearAbandonedStart(storageFolder);
  const record = await loadClusterRecord(storageFolder);
  if (record?.folder === folder) {
    return record;
  }
  return (await isBeingStarted(storageFolder, folder)) ? 'starting' : 'none';
}

async function lookAtUse(record: ClusterRecord): Promise<UseLook> {
  const isKept = await access(clusterPaths(record.folder).keep).then(
    () => true,
    () => false,
  );
  const window = await hasWindow(record.folder);
  const isUsed = window || isKept ? undefined : await isInUse(record);
  return { at: Date.now(), hasWindow: window, isKept, isUsed };
}

/** Whether a job of anybody runs, be it submitted or a program that has connected, or what a job has left to go on; undefined when Ray does not answer. */
async function isInUse(record: ClusterRecord): Promise<boolean | undefined> {
  // Read at every look: a file that nobody reads for days may be cleared from the temporary folder.
  const token = await readFileIfThere(record.tokenFile);
  const client = createRayClient({ url: record.dashboardUrl, token });
  try {
    // Another cluster may have got the port.
    if ((await client.version()).sessionName === record.sessionName) {
      return (await client.jobs()).some((job) => !jobHasEnded(job)) || (await client.hasLivingActor());
    }
  } catch (error) {
    if (!(error instanceof RayError)) {
      throw error;
    }
  } finally {
    await client.close();
  }
  const ended = await endedPart(record);
  // Without its dashboard a cluster still runs jobs; without one of the others it does not.
  return ended === undefined || ended === 'its dashboard' ? undefined : false;
}

function useWords({ hasWindow, isKept, isUsed }: UseLook): string {
  if (hasWindow) {
    return 'a window works with it';
  }
  if (isKept) {
    return 'no window works with it, but it is to be kept';
  }
  const use =
    isUsed === undefined
      ? 'Ray does not say whether it is used'
      : isUsed
        ? 'but a job or an actor runs'
        : 'and nothing runs on it';
  return `no window works with it, ${use}`;
}

let said = '';
function sayWhenNew(text: string): void {
  if (text !== said) {
    said = text;
    say(text);
  }
}

function say(text: string): void {
  console.log(`${new Date().toISOString()} ${text}`);
}

const [storageFolder = '', folder = ''] = process.argv.slice(2);
void main(storageFolder, folder);
