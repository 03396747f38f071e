import { readFile } from 'node:fs/promises';
import { runProcess } from '../python/process';

/**
 * What tells a process from every other one, also from a later one that got its number, and also after the machine was
 * started anew; undefined when there is no such process.
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  const start = process.platform === 'linux' ? await startOnLinux(pid) : await startElsewhere(pid);
  return start && `${await thisBoot()} ${pid} ${start}`;
}

/** This process's own. */
export async function ownIdentity(): Promise<string> {
  const identity = await processIdentity(process.pid);
  if (identity === undefined) {
    throw new Error('The system does not tell when this process was started.');
  }
  return identity;
}

/** Whether the process with this identity runs, and not another one that got its number. */
export async function isRunning(identity: string): Promise<boolean> {
  return (await processIdentity(pidOf(identity))) === identity;
}

/** The number of a process, of use only while it runs. */
export function pidOf(identity: string): number {
  return Number(identity.split(' ')[1]);
}

/** Whether a process with this identity could still run, which none can from before the machine was started. */
export async function isFromThisBoot(identity: string): Promise<boolean> {
  return identity.startsWith(`${await thisBoot()} `);
}

/** In clock ticks since the machine was started. What `ps` shows is reckoned from the clock, and moves when that is set. */
async function startOnLinux(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  // The second field is the program's name in brackets and may hold anything, so brackets and spaces too.
  const [state, ...fields] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  // A zombie has ended; where init does not reap, it stays for ever.
  return state === undefined || state === 'Z' ? undefined : fields[18];
}

/** On macOS the system keeps the time at which a process was started. */
async function startElsewhere(pid: number): Promise<string | undefined> {
  const result = await runProcess('ps', ['-p', String(pid), '-o', 'stat=', '-o', 'lstart='], {
    env: { ...process.env, LC_ALL: 'C' },
    limitMs: 10_000,
  });
  const [, state, start] = /^\s*(\S+)\s+(.*\S)/.exec(result.stdout) ?? [];
  return state?.startsWith('Z') ? undefined : start?.replace(/\s+/g, ' ');
}

let boot: Promise<string> | undefined;

function thisBoot(): Promise<string> {
  boot ??= readBoot();
  return boot;
}

async function readBoot(): Promise<string> {
  if (process.platform === 'linux') {
    return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  }
  const { stdout } = await runProcess('sysctl', ['-n', 'kern.bootsessionuuid'], { limitMs: 10_000 });
  return stdout.trim();
}
