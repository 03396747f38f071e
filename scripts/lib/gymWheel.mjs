import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runOrExplain } from './processes.mjs';
import { environmentPython } from './pythonEnvironment.mjs';
import { stampSays, writeStamp } from './stamps.mjs';

const VERSION = '0.7.0';
/** What it asks for. It is only read here, so that the Python at hand may be older. */
const ITS_PYTHON = '3.13.14';

/**
 * The files of NeMo Gym as they are shipped, unpacked, unless they are there already. Needs the project's environment.
 *
 * @param {string} root the project's folder
 * @returns {Promise<string>} the folder
 */
export async function ensureGymWheel(root) {
  const folder = join(root, '.nemo-gym');
  const files = join(folder, 'files');
  const stamp = join(folder, 'stamp');
  if (stampSays(stamp, VERSION)) {
    return files;
  }
  await rm(folder, { recursive: true, force: true });
  const python = environmentPython(root);
  const download = ['--no-deps', '--only-binary=:all:', '--python-version', ITS_PYTHON, '--dest', folder];
  await runOrExplain('Fetching NeMo Gym', python, [
    '-m',
    'pip',
    'download',
    '--quiet',
    ...download,
    `nemo-gym==${VERSION}`,
  ]);
  const wheel = join(folder, `nemo_gym-${VERSION}-py3-none-any.whl`);
  await runOrExplain('Unpacking NeMo Gym', python, ['-m', 'zipfile', '--extract', wheel, files]);
  writeStamp(stamp, VERSION);
  return files;
}
