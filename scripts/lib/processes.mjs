import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { atEnd, isEnding } from './ending.mjs';
import { explainFailure, SetupError } from './setupError.mjs';

/** Enough to find the reason in, little enough to keep. */
const OUTPUT_LIMIT = 200_000;

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env]
 * @property {number} [timeoutMs] the command is ended after this; none by default
 */

/**
 * Runs a command with nothing to read from and gathers what it prints.
 *
 * The command gets a process group of its own, so that ending it ends what it started too (npm starts shells).
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<{ ok: boolean, stdout: string, output: string }>} `output` is stdout and stderr together;
 *   a command that cannot be started is `ok: false` with the reason as output
 */
export async function run(command, args, { cwd, env, timeoutMs } = {}) {
  if (isEnding()) {
    return { ok: false, stdout: '', output: 'interrupted' };
  }
  return await new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const forget = atEnd(() => endGroup(child.pid));
    let stdout = '';
    let output = '';
    let timedOut = false;
    const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs);

    function giveUp() {
      timedOut = true;
      void endGroup(child.pid);
    }
    /** @param {boolean} ok */
    function finish(ok) {
      clearTimeout(timer);
      forget();
      resolve({ ok, stdout, output });
    }
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout = (stdout + text).slice(-OUTPUT_LIMIT);
      output = (output + text).slice(-OUTPUT_LIMIT);
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-OUTPUT_LIMIT);
    });
    child.on('error', (error) => {
      output += error.message;
      finish(false);
    });
    child.on('close', (code) => {
      if (timedOut) {
        output += `\nno answer within ${timeoutMs} ms`;
      }
      finish(code === 0);
    });
  });
}

/**
 * Runs a command that must succeed.
 *
 * @param {string} what what it does, for the message: "Installing the npm packages"
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<string>} what it wrote to stdout
 * @throws {SetupError} with the reason in a sentence
 */
export async function runOrExplain(what, command, args, options) {
  const result = await run(command, args, options);
  if (!result.ok) {
    throw new SetupError(explainFailure(what, result.output));
  }
  return result.stdout;
}

/**
 * Ends a process group that this process started: asks first, insists after two seconds.
 *
 * @param {number | undefined} leader the pid of a child that was spawned with `detached: true`
 * @returns {Promise<void>}
 */
export async function endGroup(leader) {
  if (leader === undefined || !signalGroup(leader, 'SIGTERM')) {
    return;
  }
  for (let waited = 0; waited < 2000 && signalGroup(leader, 0); waited += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  signalGroup(leader, 'SIGKILL');
}

/**
 * @param {number} leader
 * @param {NodeJS.Signals | 0} signal
 * @returns {boolean} whether the group was there to get it
 */
function signalGroup(leader, signal) {
  try {
    process.kill(-leader, signal);
    return true;
  } catch {
    return false;
  }
}

/**
 * Every executable of one of these names on a search path, the first name's first: a version manager may have put a
 * shim that fails before one that works.
 *
 * @param {string | undefined} searchPath as in the variable PATH
 * @param {readonly string[]} names
 * @returns {string[]}
 */
export function executablesOnPath(searchPath, names) {
  const folders = (searchPath ?? '').split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name)).filter(isExecutable));
}

/**
 * @param {string} path
 * @returns {boolean}
 */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
