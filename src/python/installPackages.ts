import { dirname, join } from 'node:path';
import { hasCode, UserError } from '../common/userError';
import { forgetEnvironment, type PythonEnvironment } from './environment';
import { isExecutable, programsOnPath } from './findPrograms';
import { installFailure, withoutSecrets } from './installFailure';
import { runProcess } from './process';

/** What installs into an environment. */
export type Installer =
  | { readonly kind: 'pip' }
  | { readonly kind: 'uv'; readonly program: string }
  /** There is none, and Python can put pip into the environment itself. */
  | { readonly kind: 'ensurepip' };

export interface InstallOptions {
  /** Gets a short text about what is being done. */
  readonly onStage: (stage: string) => void;
  /** Gets every line for the log; no password is in it. */
  readonly onLine: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

const showLog = { title: 'Show log', command: 'shardboard.showLog' };

/** Hundreds of megabytes over a slow network. */
const INSTALL_LIMIT_MS = 60 * 60_000;
/** pip puts back what it was replacing. */
const TIDY_UP_MS = 5000;

/**
 * What can install into the environment: its pip, else the uv beside it or on the PATH, as in environments that uv made.
 *
 * @throws UserError when there is nothing
 */
export async function findInstaller(environment: PythonEnvironment, path = process.env.PATH): Promise<Installer> {
  if (environment.pip) {
    return { kind: 'pip' };
  }
  const uv = await findUv(environment.executable, path);
  if (uv !== undefined) {
    return { kind: 'uv', program: uv };
  }
  if (environment.ensurepip) {
    return { kind: 'ensurepip' };
  }
  throw new UserError(
    `The environment of ${environment.executable} has no pip, this Python cannot make one, and uv is not on the PATH. ` +
      'Install uv, or on Debian and Ubuntu the package python3-venv.',
  );
}

/** The uv beside an interpreter, else on the PATH. */
export async function findUv(python: string, path = process.env.PATH): Promise<string | undefined> {
  const beside = join(dirname(python), 'uv');
  return (await isExecutable(beside)) ? beside : (await programsOnPath('uv', path))[0];
}

/**
 * Installs into the environment, and nowhere else. With `ensurepip`, pip comes first. What it has afterwards is to be asked
 * anew: that pip ended without an error proves nothing.
 *
 * @throws UserError with the reason in a sentence; the signal's reason when it is aborted, when all processes have ended
 */
export async function installPackages(
  environment: PythonEnvironment,
  installer: Installer,
  requirements: readonly string[],
  options: InstallOptions,
): Promise<void> {
  const python = environment.executable;
  const what = requirements.join(' ');
  try {
    if (installer.kind === 'ensurepip') {
      await runInstaller('Installing pip', python, ['-m', 'ensurepip', '--upgrade', '--default-pip'], options);
    }
    const [program, args] =
      installer.kind === 'uv'
        ? ([installer.program, ['pip', 'install', '--python', python, '--compile-bytecode']] as const)
        : ([python, ['-m', 'pip', 'install', '--compile', '--disable-pip-version-check', '--no-input']] as const);
    await runInstaller(`Installing ${what}`, program, [...args, ...requirements], options);
  } finally {
    forgetEnvironment(python);
  }
}

/**
 * Runs pip, uv or the like to its end.
 *
 * @throws UserError with the reason in a sentence; the signal's reason when it is aborted
 */
export async function runInstaller(
  what: string,
  program: string,
  args: readonly string[],
  { onStage, onLine, signal }: InstallOptions,
): Promise<void> {
  onLine(`${program} ${args.join(' ')}`);
  const result = await runProcess(program, args, {
    // Not where a folder of the user's could be taken for a module of pip's.
    cwd: '/',
    env: installEnvironment(),
    limitMs: INSTALL_LIMIT_MS,
    tidyUpMs: TIDY_UP_MS,
    signal,
    onLine: (line) => {
      const told = withoutSecrets(line.trim());
      if (told !== '') {
        onLine(told);
        onStage(shorten(told));
      }
    },
  }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EACCES')) {
      throw new UserError(`${what} failed: ${program} is gone or may not be run.`, [showLog], { cause: error });
    }
    throw error;
  });
  if (result.exitCode !== 0) {
    const reason = installFailure(`${result.stdout}\n${result.stderr}`) ?? 'It gave no reason.';
    throw new UserError(`${what} failed. ${reason}`, [showLog]);
  }
}

function installEnvironment(): NodeJS.ProcessEnv {
  // With bytecode, Ray and each job start in half the time, whatever the shell's own wish is.
  const { PYTHONDONTWRITEBYTECODE: _, PIP_TARGET: __, PIP_PREFIX: ___, ...env } = process.env;
  // A setting of the user's for pip must not lead it out of the environment.
  return { ...env, PIP_USER: '0', PYTHONSAFEPATH: '1', PYTHONUNBUFFERED: '1', NO_COLOR: '1' };
}

const LONGEST_STAGE = 80;

/** A line of pip or uv as a stage: without its many particulars. */
function shorten(line: string): string {
  const text = line.replace(/^(Requirement already satisfied: \S+).*/, '$1').replace(/ \(from .*\)$/, '');
  return text.length > LONGEST_STAGE ? `${text.slice(0, LONGEST_STAGE)}…` : text;
}
