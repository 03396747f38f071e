import { spawn } from 'node:child_process';
import { UserError } from '../common/userError';

export interface ProcessOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** After this the process and its children are killed. */
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
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
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      killGroup(child.pid);
    }
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
    options.signal?.removeEventListener('abort', kill);
  }
}

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}
