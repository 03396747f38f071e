import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The project's folder: the nearest one above that has a package.json, wherever the bundled test runs from. */
export const projectRoot = nearestProject(__dirname);

function nearestProject(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) {
    return folder;
  }
  const parent = dirname(folder);
  if (parent === folder) {
    throw new Error('The tests run outside the project.');
  }
  return nearestProject(parent);
}
