/**
 * Keeps one `gym env start`, and sees to it that it ends as it should: a process of its own between the editor and Gym.
 *
 * Gym ends cleanly on an interrupt only. On a hang-up, which a closed terminal sends, it dies at once and leaves its servers
 * and Ray's processes behind. So Gym gets no terminal: it is interrupted when the keeper's input ends, whether somebody has
 * asked for that or the editor is gone.
 *
 *     node serverKeeper.js PROGRAM [ARGUMENT…]
 */
import { spawn } from 'node:child_process';

/** Gym took about eight seconds to end its servers where this was measured. */
const INTERRUPT_MS = 30_000;
const TERMINATE_MS = 15_000;

const [program = '', ...args] = process.argv.slice(2);
// That the editor's program acts as Node here is no business of what Gym starts.
const { ELECTRON_RUN_AS_NODE: _, ...env } = process.env;
const gym = spawn(program, args, { env, detached: true, stdio: ['ignore', 'inherit', 'inherit'] });
let timer: NodeJS.Timeout | undefined;
let isStopping = false;

gym.on('error', (error) => {
  console.error(`Gym could not be started: ${error.message}`);
  process.exit(127);
});
gym.on('exit', (code, signal) => {
  clearTimeout(timer);
  process.exit(code ?? (signal === 'SIGINT' ? 130 : 1));
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
      killGroup();
    }, TERMINATE_MS);
  }, INTERRUPT_MS);
}

function killGroup(): void {
  try {
    process.kill(-(gym.pid ?? 0), 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** When the editor is gone nobody reads, and writing fails. */
function say(text: string): void {
  process.stderr.write(`${text}\n`, () => undefined);
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => undefined);
}
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
  process.on(signal, stop);
}
process.stdin.on('end', stop).on('error', stop).resume();
