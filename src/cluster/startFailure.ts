import { UserError } from '../common/userError';

/** What is known about a start that failed. */
export interface StartFacts {
  readonly python: string;
  /** What `ray start` wrote. */
  readonly output: string;
  /** The end of the dashboard's log, when there is one. */
  readonly dashboardLog: string;
}

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
    /already occupied|Address already in use|does not match persisted value|is already running at/,
    () => 'Another program took one of the ports that had been free a moment before. Try again.',
  ],
  [/No space left on device/, () => 'The disk is full. Make room in the folder for temporary files and try again.'],
  [/AuthenticationError|InvalidAuthToken/, () => 'Ray did not accept the token that it was started with. Try again.'],
  [
    /AF_UNIX path length/,
    () => 'The path of the folder for temporary files is too long for Ray. Set TMPDIR to a shorter one.',
  ],
];

/** Why Ray did not start, in a sentence. What Ray wrote goes along as the cause, for the log. */
export function explainStartFailure(facts: StartFacts): UserError {
  const output = plain(facts.output);
  const dashboardLog = plain(facts.dashboardLog);
  const known = REASONS.find(([pattern]) => pattern.test(output) || pattern.test(dashboardLog));
  const reason = known?.[1](facts) ?? lastError(output) ?? lastError(dashboardLog) ?? 'Ray said nothing about why.';
  const cause = new Error([output, dashboardLog].map((text) => text.split('\n').slice(-40).join('\n')).join('\n'));
  return new UserError(`Ray did not start. ${reason}`, [], { cause });
}

/** The last line that names an error; else the last line of all. */
function lastError(text: string): string | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.findLast((line) => /^[\w.]*(Error|Exception)\b/.test(line)) ?? lines.at(-1)?.trim();
}

/** Without the colours that Ray puts into its output. */
function plain(text: string): string {
  return text.replaceAll(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g'), '');
}
