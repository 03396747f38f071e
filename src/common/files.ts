import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from './userError';

/**
 * Writes a file so that a reader sees either the old content or the new, never half of it, even after a crash.
 *
 * @param mode permission bits; pass 0o600 for what only the user may read. The mode holds from the first byte.
 */
export async function writeFileAtomic(path: string, content: string | Uint8Array, mode = 0o644): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The text of a file, or undefined when there is none. */
export async function readFileIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) {
      return undefined;
    }
    throw error;
  }
}

/** For what may be gone already: lets an ENOENT pass, and no other error. */
export function ignoreMissing(error: unknown): void {
  if (!hasCode(error, 'ENOENT')) {
    throw error;
  }
}
