import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findPython, pythonCandidates } from './findPython.mjs';
import { run, runOrExplain } from './processes.mjs';
import { explainFailure, SetupError } from './setupError.mjs';
import { hashOfFile, stampSays, writeStamp } from './stamps.mjs';
import { step } from './steps.mjs';
import { findUv, withTemporaryUv } from './uv.mjs';

/** What the product needs, and what its tests need besides; both pin every package by hash. */
const PRODUCT = 'requirements.txt';
const DEVELOPMENT = 'requirements-dev.txt';

/**
 * The Python of the project's own environment, whether or not it has been made yet.
 *
 * @param {string} root the project's folder
 * @returns {string}
 */
export function environmentPython(root) {
  return join(root, '.venv', 'bin', 'python');
}

/**
 * Makes the project's Python environment in `.venv`, unless it is there and whole. Prints its own steps.
 *
 * @param {string} root the project's folder
 * @param {{ forDevelopment: boolean }} purpose whether the tools of the tests are wanted too
 * @returns {Promise<void>}
 * @throws {SetupError} with nothing left behind that looks like an environment
 */
export async function ensurePythonEnvironment(root, { forDevelopment }) {
  const wanted = forDevelopment ? [PRODUCT, DEVELOPMENT] : [PRODUCT];
  const missing = existsSync(environmentPython(root)) ? wanted.filter((file) => !isInstalled(root, file)) : wanted;
  if (missing.length === 0) {
    await step('Python environment', async () => 'up to date');
    return;
  }
  const uv = await findUv(process.env);
  /** @type {import('./findPython.mjs').Python | undefined} */
  let python;
  if (missing.includes(PRODUCT)) {
    const candidates = pythonCandidates({ env: process.env, home: homedir(), platform: process.platform });
    await step('Python 3.12 or 3.13', async () => {
      python = await findPython(candidates, { needsVenv: uv === undefined });
      return `${python.path} (${python.version})`;
    });
  }
  await step(`Python environment with ${missing.map((file) => `driver/${file}`).join(' and ')}`, async () => {
    await fill(root, python, uv, missing);
    return 'installed';
  });
}

/**
 * @param {string} root
 * @param {import('./findPython.mjs').Python | undefined} python makes the environment anew with this one; none adds to
 *   the environment that is there
 * @param {string | undefined} uv
 * @param {readonly string[]} requirementFiles
 */
async function fill(root, python, uv, requirementFiles) {
  const folder = join(root, '.venv');
  const installAll = async (/** @type {string | undefined} */ tool) => {
    for (const file of requirementFiles) {
      await install(root, tool, file);
      writeStamp(stampPath(root, file), stampText(root, file));
    }
  };
  try {
    if (python !== undefined) {
      // An environment cannot be moved once made (its scripts hold its path), so it is made in place and stamped last.
      await removeEnvironment(folder);
      await makeEnvironment(folder, python, uv);
    }
    await (uv === undefined ? withTemporaryUv(environmentPython(root), installAll) : installAll(uv));
  } catch (error) {
    if (!isInstalled(root, PRODUCT)) {
      await removeEnvironment(folder);
    }
    throw error;
  }
}

/**
 * An installer whose set-up was killed outright may still be writing into the folder for a moment.
 *
 * @param {string} folder
 */
async function removeEnvironment(folder) {
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
}

/**
 * With pip inside either way: a person can add to it as usual, and `install` can fall back on it.
 *
 * @param {string} folder
 * @param {import('./findPython.mjs').Python} python
 * @param {string | undefined} uv
 */
async function makeEnvironment(folder, python, uv) {
  const what = 'Making the Python environment';
  await (uv === undefined || python.canMakeEnvironments
    ? runOrExplain(what, python.path, ['-m', 'venv', folder])
    : runOrExplain(what, uv, ['venv', '--quiet', '--seed', '--python', python.path, folder]));
}

/**
 * uv first, since it is several times faster; pip when uv cannot do it, since the two find registries and certificates
 * by different settings.
 *
 * @param {string} root
 * @param {string | undefined} uv
 * @param {string} file
 */
async function install(root, uv, file) {
  const python = environmentPython(root);
  const requirements = ['--require-hashes', '--requirement', join(root, 'driver', file)];
  // Bytecode makes Ray start in 8 s instead of 13 and each job in half the time, whatever the shell's own wish is.
  const { PYTHONDONTWRITEBYTECODE: _, ...env } = process.env;
  let output = '';
  if (uv !== undefined) {
    const result = await run(
      uv,
      ['pip', 'install', '--quiet', '--compile-bytecode', '--python', python, ...requirements],
      {
        env,
      },
    );
    if (result.ok) {
      return;
    }
    output = result.output;
  }
  const result = await run(python, ['-m', 'pip', 'install', '--quiet', '--compile', ...requirements], { env });
  if (!result.ok) {
    throw new SetupError(
      explainFailure(`Installing the Python packages of driver/${file}`, `${output}\n${result.output}`),
    );
  }
}

/**
 * @param {string} root
 * @param {string} file
 * @returns {boolean}
 */
function isInstalled(root, file) {
  return stampSays(stampPath(root, file), stampText(root, file));
}

/**
 * @param {string} root
 * @param {string} file
 */
function stampPath(root, file) {
  return join(root, '.venv', `.shardboard-${file}.stamp`);
}

/**
 * The folder is part of it: a project that was moved has scripts in its environment that point to where it was.
 *
 * @param {string} root
 * @param {string} file
 */
function stampText(root, file) {
  return `${hashOfFile(join(root, 'driver', file))} ${root}`;
}
