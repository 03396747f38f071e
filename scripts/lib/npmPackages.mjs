import { join } from 'node:path';
import { runOrExplain } from './processes.mjs';
import { hashOfFile, stampSays, writeStamp } from './stamps.mjs';

/**
 * Installs the npm packages of the lock file, unless they are there already.
 *
 * @param {string} root the project's folder
 * @returns {Promise<string>} what was done, for the step's line
 */
export async function ensureNpmPackages(root) {
  const stamp = join(root, 'node_modules', '.shardboard-stamp');
  // Some packages hold programs of one platform, and a folder may be shared between two.
  const wanted = `${hashOfFile(join(root, 'package-lock.json'))} ${process.platform}-${process.arch}`;
  if (stampSays(stamp, wanted)) {
    return 'up to date';
  }
  // No install scripts: of tree-sitter-python only the .wasm is used, and its script may want a compiler. Short waits
  // between retries: without a network npm would be silent for more than a minute.
  await runOrExplain(
    'Installing the npm packages',
    'npm',
    ['ci', '--ignore-scripts', '--prefer-offline', '--fetch-retry-mintimeout=2000', '--fetch-retry-maxtimeout=8000'],
    {
      cwd: root,
    },
  );
  writeStamp(stamp, wanted);
  return 'installed';
}
