import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '../common/files';
import { clusterPaths } from './clusterFolder';
import { isRunning, ownIdentity } from './processIdentity';

/**
 * Notes that this window works with a cluster, for as long as its process runs: nothing has to be taken back, and a window
 * that is killed counts no more either. Nothing when the cluster's folder is gone.
 */
export async function markWindow(folder: string): Promise<void> {
  const path = join(clusterPaths(folder).windows, String(process.pid));
  await writeFile(path, await ownIdentity(), { mode: 0o600 }).catch(ignoreMissing);
}

/** Whether a window works with the cluster. */
export async function hasWindow(folder: string): Promise<boolean> {
  const { windows } = clusterPaths(folder);
  for (const name of await readdir(windows).catch(() => [])) {
    if (await isRunning(await readFile(join(windows, name), 'utf8').catch(() => ''))) {
      return true;
    }
  }
  return false;
}
