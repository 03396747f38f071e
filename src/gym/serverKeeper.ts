/**
 * Keeps one `gym env start`, and sees to it that it ends as it should: a process of its own between the editor and Gym.
 *
 * Gym ends cleanly on an interrupt only. On a hang-up, which a closed terminal sends, it dies at once and leaves its servers
 * and Ray's processes behind. So Gym gets no terminal: it is interrupted when the keeper's input ends, whether somebody has
 * asked for that or the editor is gone.
 *
 *     node serverKeeper.js PROGRAM [ARGUMENT…]
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

/** Gym took about eight seconds to end its servers where this was measured. */
const INTERRUPT_MS = 30_000;
const TERMINATE_MS = 15_000;
/** What Gym ends last, such as Ray's processes, may take a moment longer than Gym itself. */
const REST_MS = 3000;
const REST_TERMINATE_MS = 10_000;
const LOOK_EVERY_MS = 100;

const [program = '', ...args] = process.argv.slice(2);
// That the editor's program acts as Node here is no business of what Gym starts.
const { ELECTRON_RUN_AS_NODE: _, ...env } = process.env;
// The pipes are the keeper's own. Those of an editor that is gone are broken: Gym then dies of the first line that it writes
// on an interrupt, before it has ended its servers.
const gym = spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
let timer: NodeJS.Timeout | undefined;
let isStopping = false;

for (const [from, to] of [
  [gym.stdout, process.stdout],
  [gym.stderr, process.stderr],
] as const) {
  from.pipe(to);
  // Read on although nobody hears it: a full pipe would stop Gym.
  to.on('error', () => from.unpipe(to).resume());
}
gym.on('error', (error) => {
  console.error(`Gym could not be started: ${error.message}`);
  process.exit(127);
});
gym.on('exit', async (code, signal) => {
  clearTimeout(timer);
  const closed = once(gym, 'close');
  if (signal !== null && !isStopping) {
    say(`Gym was ended by ${signal}.`);
  }
  await endRest();
  // For the last lines; not for ever, since a process that has left the group may hold the pipe.
  await Promise.race([closed, wait(1000)]);
  process.stdout.write('', () => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
});

function stop(): void {
  if (isStopping) {
    return;
  }
  isStopping = true;
  gym.kill('SIGINT');
  timer = setTimeout(() => {
    say('Gym has not ended half a minute after the interrupt. It is now terminated.');
    gym.kill('SIGTERM');
    timer = setTimeout(() => {
      say('Gym does not end. It is now killed, with all that it has started.');
      signalGroup('SIGKILL');
    }, TERMINATE_MS);
  }, INTERRUPT_MS);
}

/** Ends what Gym has left behind, as it does when it is killed or crashes. */
async function endRest(): Promise<void> {
  if (await isGroupGone(REST_MS)) {
    return;
  }
  say('Gym has left processes behind. They are now terminated.');
  signalGroup('SIGTERM');
  if (!(await isGroupGone(REST_TERMINATE_MS))) {
    say('They do not end. They are now killed.');
    signalGroup('SIGKILL');
  }
}

async function isGroupGone(limitMs: number): Promise<boolean> {
  for (const deadline = Date.now() + limitMs; groupHasMembers(); await wait(LOOK_EVERY_MS)) {
    if (Date.now() > deadline) {
      return false;
    }
  }
  return true;
}

/** A signal would find zombies too, which stay for ever where nobody reaps them. */
function groupHasMembers(): boolean {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pgid=', '-o', 'stat='], { encoding: 'utf8' });
  // Null when there is no ps.
  return new RegExp(`^\\s*${gym.pid}\\s+[^Z\\s]`, 'm').test(stdout ?? '');
}

function signalGroup(signal: NodeJS.Signals): void {
  try {
    process.kill(-(gym.pid ?? 0), signal);
  } catch {
    // It has ended meanwhile.
  }
}

/** When the editor is gone nobody reads, and writing fails. */
function say(text: string): void {
  process.stderr.write(`${text}\n`, () => undefined);
}

for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
  process.on(signal, stop);
}
process.stdin.on('end', stop).on('error', stop).resume();
