import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd, isEnding } from './ending.mjs';
import { endGroup, run } from './processes.mjs';

/** Everything that a ring starts inherits this variable, however far it moves away from its parent. */
const MARKER = 'SHARDBOARD_TEST_RING';

/** How long what a ring started may take to go after it. */
const LEAVE_LIMIT_MS = 10_000;

/**
 * Runs `use` with a runner for a ring's programs and a temporary folder; the folder and every process that was left are
 * gone afterwards, on a signal too.
 *
 * @template T
 * @param {number} limitMs how long all of the ring may take
 * @param {(ring: { folder: string, run: (command: string, args: readonly string[], cwd: string, env?: NodeJS.ProcessEnv) => Promise<boolean> }) => Promise<T>} use
 *   `run` prints through what the program prints and answers whether it succeeded
 * @returns {Promise<{ result: T, leftovers: string[] }>} `leftovers` are the processes that had to be ended
 */
export async function withRing(limitMs, use) {
  const mark = randomUUID();
  // Without bytecode Ray starts at half its speed; a person's shell does not forbid it, and some build machines do.
  const { PYTHONDONTWRITEBYTECODE: _, ...ownEnvironment } = process.env;
  // A short name: Ray and VS Code put sockets below it, whose paths may have about a hundred characters.
  const folder = await mkdtemp(join(tmpdir(), 'sb-'));
  const deadline = Date.now() + limitMs;
  /** @type {Promise<string[]> | undefined} */
  let cleaning;
  // One cleaning for both who ask for it: the end of the ring, and a signal in its middle.
  const clean = () => {
    cleaning ??= endLeftovers(mark).then(async (leftovers) => {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      return leftovers;
    });
    return cleaning;
  };
  const forget = atEnd(async () => void (await clean()));
  const runProgram = (
    /** @type {string} */ command,
    /** @type {readonly string[]} */ args,
    /** @type {string} */ cwd,
    /** @type {NodeJS.ProcessEnv} */ env = {},
  ) => runUntil(deadline, command, args, cwd, { ...ownEnvironment, ...env, TMPDIR: folder, [MARKER]: mark });
  try {
    const result = await use({ folder, run: runProgram });
    return { result, leftovers: await clean() };
  } finally {
    await clean();
    forget();
  }
}

/**
 * @param {number} deadline
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<boolean>}
 */
async function runUntil(deadline, command, args, cwd, env) {
  if (isEnding()) {
    return false;
  }
  return await new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'inherit', 'inherit'] });
    const forget = atEnd(() => endGroup(child.pid));
    const timer = setTimeout(() => {
      console.error('The ring took longer than it may, and is ended.');
      void endGroup(child.pid);
    }, deadline - Date.now());
    const finish = (/** @type {boolean} */ succeeded) => {
      clearTimeout(timer);
      forget();
      resolve(succeeded);
    };
    child.on('error', (error) => {
      console.error(error.message);
      finish(false);
    });
    child.on('exit', (code) => finish(code === 0));
  });
}

/**
 * Waits for what carries the mark to go, and ends what does not.
 *
 * @param {string} mark
 * @returns {Promise<string[]>} the command lines of what had to be ended
 */
async function endLeftovers(mark) {
  const started = Date.now();
  let left = await processesWith(mark);
  while (left.length > 0 && !isEnding() && Date.now() - started < LEAVE_LIMIT_MS) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    left = await processesWith(mark);
  }
  const ended = left.map(({ pid, command }) => `${pid} ${command}`);
  // More than once: what is ended may have started something in the meantime.
  for (let round = 0; left.length > 0 && round < 20; round += 1) {
    for (const { pid } of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone by itself in the meantime.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    left = await processesWith(mark);
  }
  return ended;
}

/**
 * @param {string} mark
 * @returns {Promise<{ pid: number, command: string }[]>}
 */
async function processesWith(mark) {
  return process.platform === 'linux' ? await linuxProcessesWith(mark) : await otherProcessesWith(mark);
}

/** @param {string} mark */
async function linuxProcessesWith(mark) {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      try {
        const env = await readFile(`/proc/${pid}/environ`, 'utf8');
        const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').slice(0, 200);
        return env.includes(`${MARKER}=${mark}`) ? [{ pid: Number(pid), command }] : [];
      } catch {
        // Gone, or another user's.
        return [];
      }
    }),
  );
  return found.flat();
}

/** @param {string} mark */
async function otherProcessesWith(mark) {
  const { stdout } = await run('ps', ['-axEww', '-o', 'pid=,command=']);
  return stdout
    .split('\n')
    .filter((line) => line.includes(`${MARKER}=${mark}`))
    .map((line) => ({ pid: Number.parseInt(line, 10), command: line.trim().slice(0, 200) }));
}
