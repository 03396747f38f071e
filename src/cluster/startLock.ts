import { randomUUID } from 'node:crypto';
import { link, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { readFileIfThere, writeFileAtomic } from '../common/files';
import { hasCode } from '../common/userError';
import { clusterFolderName, removeClusterFolder } from './clusterFolder';
import { loadClusterRecord } from './clusterRecord';
import { endClusterProcesses, type ProcessOwner } from './processes';
import { isRunning, ownIdentity } from './processIdentity';
import { endWatcher } from './watcherProcess';

const lockContent = v.object({
  /** The identity of the process that starts or ends a cluster. */
  holder: v.string(),
  /** The cluster that it has started so far, or not ended yet. */
  cluster: v.optional(v.object({ processGroup: v.number(), leader: v.string(), folder: clusterFolderName })),
});
type LockContent = v.InferOutput<typeof lockContent>;

/** The right to start a cluster, or to end one that nobody uses, which one process has at a time. */
export interface StartLock {
  /** Notes what there is to clean up in case this process is killed while the cluster has no record. */
  note(cluster: ProcessOwner): Promise<void>;
  release(): Promise<void>;
}

/** Takes the lock, or returns undefined while another start is under way. */
export async function takeStartLock(storageFolder: string): Promise<StartLock | undefined> {
  await clearAbandonedStart(storageFolder);
  const path = pathIn(storageFolder);
  const mine: LockContent = { holder: await ownIdentity() };
  // Written first and then linked: the lock is never there without its content.
  const draft = `${path}.${randomUUID()}`;
  await writeFileAtomic(draft, JSON.stringify(mine), 0o600);
  try {
    await link(draft, path);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) {
      return undefined;
    }
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return {
    note: ({ processGroup, leader, folder }) =>
      writeFileAtomic(path, JSON.stringify({ ...mine, cluster: { processGroup, leader, folder } }), 0o600),
    release: () => rm(path, { force: true }),
  };
}

/** Ends what a start left behind whose process was killed in the middle of it. */
export async function clearAbandonedStart(storageFolder: string): Promise<void> {
  const content = await loadLock(storageFolder);
  if (content === 'none' || (content && (await isRunning(content.holder)))) {
    return;
  }
  const hasRecord = (await loadClusterRecord(storageFolder))?.folder === content?.cluster?.folder;
  // With a record the start had come to its end, and the cluster is as good as any other.
  if (content?.cluster && !hasRecord) {
    await endClusterProcesses(content.cluster, 0);
    await endWatcher(content.cluster.folder);
    await removeClusterFolder(content.cluster.folder);
  }
  await rm(pathIn(storageFolder), { force: true });
}

/** Whether a process is at work on this cluster: it starts it, or ends it. */
export async function isBeingStarted(storageFolder: string, folder: string): Promise<boolean> {
  const content = await loadLock(storageFolder);
  return content !== 'none' && content?.cluster?.folder === folder && (await isRunning(content.holder));
}

/** Undefined when it cannot be read. */
async function loadLock(storageFolder: string): Promise<LockContent | 'none' | undefined> {
  const text = await readFileIfThere(pathIn(storageFolder));
  return text === undefined ? 'none' : parse(text);
}

function parse(text: string): LockContent | undefined {
  try {
    return v.parse(lockContent, JSON.parse(text));
  } catch {
    return undefined;
  }
}

function pathIn(storageFolder: string): string {
  return join(storageFolder, 'cluster.lock');
}
