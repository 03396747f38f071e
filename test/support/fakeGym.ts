import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A stand-in for nemo-gym's `gym`, and what it has written down so far. */
export interface FakeGym {
  /** The interpreter beside it, which is none: nobody runs it. */
  readonly python: string;
  readonly program: string;
  log(): Promise<string[]>;
}

/**
 * Makes a `gym` that does as the real one was seen to: it starts a server of its own; on an interrupt it says so, ends that
 * and ends itself; on a hang-up, or when what it says cannot be written, it dies at once and leaves the server behind.
 */
export async function makeFakeGym(folder: string): Promise<FakeGym> {
  const bin = join(folder, 'bin');
  const log = join(folder, 'gym.log');
  const program = join(bin, 'gym');
  const python = join(bin, 'python');
  await mkdir(bin, { recursive: true });
  await writeFile(log, '');
  await writeFile(python, '');
  await writeFile(
    program,
    `#!${process.execPath}
const { appendFileSync, writeSync } = require('node:fs');
const { spawn } = require('node:child_process');
const write = (line) => appendFileSync(${JSON.stringify(log)}, line + '\\n');
const server = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
process.on('SIGINT', () => {
  write('SIGINT');
  writeSync(1, 'Sending interrupt signals to servers...\\n');
  server.on('exit', () => { write('ended'); process.exit(0); });
  server.kill();
});
write('arguments ' + JSON.stringify(process.argv.slice(2)));
write('folder ' + process.cwd());
write('gym ' + process.pid);
write('server ' + server.pid);
console.log('All 1 / 1 servers ready! Polling every 60s');
`,
  );
  await chmod(program, 0o755);
  await chmod(python, 0o755);
  const lines = async (): Promise<string[]> => (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '');
  return { python, program, log: lines };
}

/** Whether a process is there; a zombie has ended. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !/^\d+ \(.*\) Z/.test(stat);
}
