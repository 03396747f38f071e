import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { ignoreMissing } from '../common/files';

/**
 * A socket's path may have 103 characters on macOS (107 on Linux). Ray puts 63 after its folder
 * (`/session_<date>_<time>_<microseconds>_<pid>/sockets/plasma_store`), we put 20 before.
 */
const LONGEST_PARENT = 20;

/** Bytes. A start writes about two million. */
const LEAST_ROOM = 10 * 1024 * 1024;

export interface ClusterPaths {
  /** What Ray gets as its temp folder. */
  readonly ray: string;
  /** TMPDIR of the cluster's processes: Python's multiprocessing leaves folders there when it is killed. */
  readonly temporary: string;
  readonly token: string;
  /** What `ray start` writes. */
  readonly startLog: string;
  /** One file for each window that works with the cluster. */
  readonly windows: string;
  /** Is there while the cluster is to be kept although nobody uses it. */
  readonly keep: string;
  /** Which process watches the cluster. */
  readonly watcher: string;
}

/** The name of such a folder, as it is read from a file. */
export const clusterFolderName = v.pipe(v.string(), v.regex(/^\/(.*\/)?shardboard-[A-Za-z0-9]{6}$/));

/** Where things are in a cluster's own folder. */
export function clusterPaths(folder: string): ClusterPaths {
  return {
    ray: join(folder, 'r'),
    temporary: join(folder, 'tmp'),
    token: join(folder, 'token'),
    startLog: join(folder, 'start.log'),
    windows: join(folder, 'windows'),
    keep: join(folder, 'keep'),
    watcher: join(folder, 'watcher'),
  };
}

/**
 * Makes a folder for a cluster, with a new token in it. Only the user may enter it. Ray's own folder is one inside it,
 * because Ray opens that to everybody (mode 0777), with the logs and sockets of every job.
 */
export async function makeClusterFolder(): Promise<{ folder: string; token: string }> {
  const usual = await realpath(tmpdir());
  const parent = usual.length <= LONGEST_PARENT ? usual : await realpath('/tmp');
  const folder = await mkdtemp(join(parent, 'shardboard-'));
  const token = randomBytes(32).toString('hex');
  const paths = clusterPaths(folder);
  try {
    await mkdir(paths.temporary);
    await mkdir(paths.windows);
    await writeFile(paths.token, token, { mode: 0o600 });
  } catch (error) {
    await removeClusterFolder(folder);
    throw error;
  }
  return { folder, token };
}

/** Whether there is too little room for a cluster to start and to write its first logs. */
export async function isDiskFull(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize < LEAST_ROOM;
}

/** Says whether the cluster is to be kept although nobody uses it. Nothing when the cluster's folder is gone. */
export async function setKept(folder: string, isKept: boolean): Promise<void> {
  const { keep } = clusterPaths(folder);
  await (isKept ? writeFile(keep, '') : rm(keep, { force: true })).catch(ignoreMissing);
}

/** Removes a cluster's folder and all that is in it. */
export async function removeClusterFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
