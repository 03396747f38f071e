import { spawn } from 'node:child_process';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ignoreMissing, readFileIfThere } from '../common/files';
import { hasCode } from '../common/userError';
import { clusterPaths } from './clusterFolder';
import { isRunning, pidOf, processIdentity } from './processIdentity';

const LOOK_EVERY_MS = 20;

/**
 * Starts the program that ends a cluster which nobody uses (clusterWatcher.ts), unless it runs already. It outlives this
 * window.
 *
 * @param program the bundled program
 */
export async function ensureWatcher(program: string, storageFolder: string, folder: string): Promise<void> {
  if (await runningWatcher(folder)) {
    return;
  }
  await mkdir(storageFolder, { recursive: true });
  // Beside the cluster's folder, which goes with the cluster: what the watcher did last can be read afterwards.
  const log = await open(join(storageFolder, 'watcher.log'), 'w', 0o600);
  try {
    const { NODE_OPTIONS: _, ...env } = process.env;
    const child = spawn(process.execPath, [program, storageFolder, folder], {
      cwd: '/',
      // The editor's program, when it is that, acts as Node.
      env: { ...env, ELECTRON_RUN_AS_NODE: '1' },
      // No pipe to this window and not in its group: neither its end nor a signal to it is the watcher's.
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    await new Promise<void>((resolve) => {
      child.once('spawn', resolve);
      // The editor's program is gone where the editor was updated under this window. The cluster is of use all the same, and
      // the next window has the new one.
      child.once('error', () => resolve());
    });
    child.unref();
    const identity = child.pid === undefined ? undefined : await processIdentity(child.pid);
    if (identity !== undefined) {
      // Of two windows that come here at once the last one wins; the other's watcher sees that it is not the one, and ends.
      await writeFile(clusterPaths(folder).watcher, identity, { mode: 0o600 }).catch(ignoreMissing);
    }
  } finally {
    await log.close();
  }
}

/** Ends the watcher of a cluster that is no more, unless this process is it. */
export async function endWatcher(folder: string): Promise<void> {
  const watcher = await runningWatcher(folder);
  if (watcher === undefined || pidOf(watcher) === process.pid) {
    return;
  }
  try {
    process.kill(pidOf(watcher), 'SIGKILL');
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) {
      throw error;
    }
  }
  while (await isRunning(watcher)) {
    await wait(LOOK_EVERY_MS);
  }
}

/** The identity of the process that watches the cluster, when one does. */
export async function runningWatcher(folder: string): Promise<string | undefined> {
  const identity = await readFileIfThere(clusterPaths(folder).watcher);
  return identity !== undefined && (await isRunning(identity)) ? identity : undefined;
}
