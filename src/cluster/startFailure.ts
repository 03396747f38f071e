import { type ErrorAction, hasCode, UserError } from '../common/userError';

/** What is known about a start that failed. */
export interface StartFacts {
  readonly python: string;
  /** What `ray start` wrote. */
  readonly output: string;
  /** What Ray's own processes wrote, in the order in which they start; empty of those that did not. */
  readonly logs: readonly string[];
  /** Where Ray writes. Without room the logs are empty. */
  readonly isDiskFull: boolean;
}

const START_AGAIN: ErrorAction = { title: 'Start Ray', command: 'shardboard.startCluster' };

const DISK_FULL = 'The disk is full. Make room in the folder for temporary files and try again.';

const REASONS: readonly [pattern: RegExp, reason: (facts: StartFacts) => string][] = [
  [
    /No module named '?ray\b/,
    ({ python }) =>
      `Ray is not installed in the environment of ${python}. Install it with: ${python} -m pip install "ray[default]"`,
  ],
  [
    /dashboard dependencies failed|include-dashboard is not supported|\[ray\[default\]\]|Ray Client requires pip package/,
    ({ python }) =>
      `Ray is installed without its dashboard, through which benchmarks are sent and watched. Install it with: ${python} -m pip install "ray[default]"`,
  ],
  [
    /already occupied|Failed to start the grpc server|Address already in use|does not match persisted value|is already running at/,
    () => 'Another program took one of its ports, which had been free a moment before. Try again.',
  ],
  [/No space left on device/, () => DISK_FULL],
  [/AuthenticationError|InvalidAuthToken/, () => 'Ray did not accept the token that it was started with. Try again.'],
  [
    /No such option/,
    ({ python }) =>
      `This Ray does not know an option that Shardboard needs. Bring it up to date with: ${python} -m pip install --upgrade "ray[default]"`,
  ],
  [
    /AF_UNIX path length/,
    () => 'The path of the folder for temporary files is too long for Ray. Set TMPDIR to a shorter one.',
  ],
];

/** Why Ray did not start, in a sentence. What Ray wrote goes along as the cause, for the log. */
export function explainStartFailure(facts: StartFacts): UserError {
  const texts = [facts.output, ...facts.logs].map(plain);
  const known = facts.isDiskFull ? undefined : REASONS.find(([pattern]) => texts.some((text) => pattern.test(text)));
  const last = texts.map(lastError).find((line) => line !== undefined);
  const reason = facts.isDiskFull ? DISK_FULL : (known?.[1](facts) ?? last ?? 'Ray said nothing about why.');
  const cause = new Error(texts.map((text) => text.split('\n').slice(-40).join('\n')).join('\n'));
  return new UserError(`Ray did not start. ${reason}`, [START_AGAIN], { cause });
}

/** Whether the head process has found that it cannot go on. `ray start` itself waits most of a minute for it then. */
export function hasGivenUp(headLog: string): boolean {
  return /Check failed/.test(headLog);
}

/** Why a file or a folder that a cluster needs could not be made; undefined for any other error. */
export function explainFileFailure(error: unknown): UserError | undefined {
  const place = error instanceof Error && 'path' in error ? ` ${error.path}` : '';
  if (hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')) {
    return new UserError(`Ray was not started: the disk is full. Make room for${place} and try again.`, [START_AGAIN]);
  }
  if (hasCode(error, 'EACCES') || hasCode(error, 'EPERM') || hasCode(error, 'EROFS')) {
    return new UserError(
      `Ray was not started: nothing can be written to${place}. Allow it, or set TMPDIR to another folder.`,
    );
  }
  return undefined;
}

/** The last line that names an error; else the last line of all. */
function lastError(text: string): string | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.findLast((line) => /^[\w.]*(Error|Exception): *\S/.test(line)) ?? lines.at(-1)?.trim();
}

/** Without the colours that Ray puts into its output. */
function plain(text: string): string {
  return text.replaceAll(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g'), '');
}
