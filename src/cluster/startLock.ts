import { randomUUID } from 'node:crypto';
import { link, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { readFileIfThere, writeFileAtomic } from '../common/files';
import { hasCode } from '../common/userError';
import { removeClusterFolder } from './clusterFolder';
import { loadClusterRecord } from './clusterRecord';
import { endClusterProcesses } from './processes';

const lockContent = v.object({
  /** The process that starts a cluster. */
  pid: v.number(),
  /** What it has started so far. */
  started: v.optional(v.object({ processGroup: v.number(), folder: v.string() })),
});
type LockContent = v.InferOutput<typeof lockContent>;

/** The right to start a cluster, which one process has at a time. */
export interface StartLock {
  /** Notes what there is to clean up in case this process is killed before the cluster has a record. */
  note(started: NonNullable<LockContent['started']>): Promise<void>;
  release(): Promise<void>;
}

/** Takes the lock, or returns undefined while another start is under way. */
export async function takeStartLock(storageFolder: string): Promise<StartLock | undefined> {
  await clearAbandonedStart(storageFolder);
  const path = pathIn(storageFolder);
  const mine: LockContent = { pid: process.pid };
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
    note: (started) => writeFileAtomic(path, JSON.stringify({ ...mine, started }), 0o600),
    release: () => rm(path, { force: true }),
  };
}

/** Ends what a start left behind whose process was killed in the middle of it. */
export async function clearAbandonedStart(storageFolder: string): Promise<void> {
  const path = pathIn(storageFolder);
  const text = await readFileIfThere(path);
  if (text === undefined) {
    return;
  }
  const content = parse(text);
  if (content && isAlive(content.pid)) {
    return;
  }
  const hasRecord = (await loadClusterRecord(storageFolder))?.folder === content?.started?.folder;
  // With a record the start had come to its end, and the cluster is as good as any other.
  if (content?.started && !hasRecord) {
    await endClusterProcesses(content.started, 0);
    await removeClusterFolder(content.started.folder);
  }
  await rm(path, { force: true });
}

function parse(text: string): LockContent | undefined {
  try {
    return v.parse(lockContent, JSON.parse(text));
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

function pathIn(storageFolder: string): string {
  return join(storageFolder, 'cluster.lock');
}
