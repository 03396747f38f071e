import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from './ending.mjs';
import { executablesOnPath, run } from './processes.mjs';

const UV_VERSION = '0.13.9';

/**
 * uv from the PATH, if there is one that runs.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | undefined>}
 */
export async function findUv(env) {
  for (const path of executablesOnPath(env.PATH, ['uv'])) {
    if ((await run(path, ['--version'], { timeoutMs: 20_000 })).ok) {
      return path;
    }
  }
  return undefined;
}

/**
 * Calls `use` with a uv that pip installs for just this purpose into a temporary folder.
 *
 * @template T
 * @param {string} python a Python that has pip
 * @param {(uv: string | undefined) => Promise<T>} use gets undefined when uv cannot be had
 * @returns {Promise<T>}
 */
export async function withTemporaryUv(python, use) {
  const folder = await mkdtemp(join(tmpdir(), 'shardboard-uv-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const forget = atEnd(remove);
  try {
    const { ok } = await run(python, ['-m', 'pip', 'install', '--quiet', '--target', folder, `uv==${UV_VERSION}`]);
    return await use(ok ? join(folder, 'bin', 'uv') : undefined);
  } finally {
    // Only then: a signal in the middle of it must wait for it.
    await remove();
    forget();
  }
}
