import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { UserError } from '../common/userError';

export interface ProcessOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** After this the process and its children are killed. */
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Gets each line when it is written, whichever output it is of. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** How long it may take to tidy up when it is to end: it is interrupted first, and killed then. Killed at once by default. */
  readonly tidyUpMs?: number;
}

export interface ProcessResult {
  /** Undefined when a signal ended it. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program to its end and captures what it writes. No shell is involved.
 *
 * @throws UserError when it takes too long; the file-system error (with its `code`) when it cannot be started; the
 * signal's reason when it is aborted. In each of these cases the process and its children are killed.
 */
export async function runProcess(
  program: string,
  args: readonly string[],
  options: ProcessOptions,
): Promise<ProcessResult> {
  options.signal?.throwIfAborted();
  // A group of its own, so that killing it takes its children along: a pyenv shim or `uv run` is only a wrapper.
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let killTimer: NodeJS.Timeout | undefined;
  const kill = (): void => {
    const group = child.pid;
    if (group === undefined || child.exitCode !== null || child.signalCode !== null) {
      return;
    }
    if (options.tidyUpMs === undefined) {
      endGroup(group, 'SIGKILL');
      return;
    }
    endGroup(group, 'SIGINT');
    killTimer = setTimeout(() => endGroup(group, 'SIGKILL'), options.tidyUpMs);
  };
  let tookTooLong = false;
  const timer = setTimeout(() => {
    tookTooLong = true;
    kill();
  }, options.limitMs);
  options.signal?.addEventListener('abort', kill, { once: true });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  if (options.onLine) {
    createInterface(child.stdout).on('line', options.onLine);
    createInterface(child.stderr).on('line', options.onLine);
  }
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    options.signal?.throwIfAborted();
    if (tookTooLong) {
      throw new UserError(`${program} did not end within ${options.limitMs / 1000} s and was ended.`);
    }
    return {
      exitCode: exitCode ?? undefined,
      stdout: Buffer.concat(stdout).toString(),
      stderr: Buffer.concat(stderr).toString(),
    };
  } finally {
    clearTimeout(timer);
    if (killTimer && child.pid !== undefined) {
      clearTimeout(killTimer);
      // A child that took no notice of the interrupt.
      endGroup(child.pid, 'SIGKILL');
    }
    options.signal?.removeEventListener('abort', kill);
  }
}

function endGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // It ended in the meantime.
  }
}
