import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceFiles } from '../gym/serverIndex';

/** What is never a server of one's own. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  '.git',
  '.venv',
  '__pycache__',
  'node_modules',
  'site-packages',
  'venv',
]);

/** The files of this machine. */
export const diskFiles: SourceFiles = {
  // At once: a command line has nothing else to do, and a promise for every step takes longer than the steps.
  async read(path) {
    try {
      return readFileSync(path);
    } catch {
      return undefined;
    }
  },
  async list(folder, signal) {
    const found: string[] = [];
    const walk = async (inner: string): Promise<void> => {
      signal.throwIfAborted();
      const entries = await readdir(inner, { withFileTypes: true });
      const folders: string[] = [];
      for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
        if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) {
          folders.push(join(inner, entry.name));
        } else if (entry.isFile() && entry.name.endsWith('.py')) {
          found.push(join(inner, entry.name));
        }
      }
      for (const below of folders) {
        await walk(below);
      }
    };
    await walk(folder);
    return found;
  },
};
