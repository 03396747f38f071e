import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The folders in which the environment of an interpreter keeps its packages, found by looking: no Python is run. */
export async function findSitePackages(pythonPath: string): Promise<readonly string[]> {
  const lib = join(dirname(dirname(pythonPath)), 'lib');
  const found: string[] = [];
  for (const python of await namesIn(lib)) {
    const folder = join(lib, python, 'site-packages');
    if (/^python3\.\d+$/.test(python) && (await namesIn(folder)).length > 0) {
      found.push(folder);
    }
  }
  return found;
}

/** What is in a folder; nothing when it is not there. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  return await readdir(folder).catch(() => []);
}
