import { stat } from 'node:fs/promises';
import * as v from 'valibot';
import { hasCode, messageOf, UserError } from '../common/userError';
import { probeScript } from './environmentScript';
import { runProcess } from './process';

const answer = v.object({
  python: v.string(),
  executable: v.string(),
  /** CPython with its lock: Ray has packages for no other. */
  isOrdinary: v.boolean(),
  isVirtual: v.boolean(),
  /** Whether it belongs to the operating system, which asks that nothing be installed into it (PEP 668). */
  isManaged: v.boolean(),
  /** Whether its folder of packages may be written. */
  isWritable: v.boolean(),
  pip: v.boolean(),
  /** Whether it can make environments, and put pip into one. */
  ensurepip: v.boolean(),
  ray: v.optional(v.string()),
  rayDefault: v.boolean(),
  nemoEvaluator: v.optional(v.string()),
  /** Whether this evaluator can itself run in shards on Ray. */
  stockLauncher: v.boolean(),
  nemoGym: v.optional(v.string()),
  scipy: v.boolean(),
  packageFolders: v.array(v.string()),
});

/** What a Python environment has of what we need. A version is undefined when the package is not there. */
export type PythonEnvironment = Readonly<Omit<v.InferOutput<typeof answer>, 'packageFolders'>>;

interface Known {
  readonly environment: PythonEnvironment;
  /** Files whose change means that something was installed, removed or replaced. */
  readonly watched: readonly string[];
  readonly stamp: string;
}

/** Starting Python from a slow disk may take seconds; nothing takes this long. */
const PROBE_LIMIT_MS = 30_000;
const known = new Map<string, Known>();

/**
 * Asks an interpreter what it has, without importing anything. Asked again only when the interpreter or its folders
 * of packages have changed.
 *
 * @throws UserError when the interpreter is missing or does not work.
 */
export async function probeEnvironment(
  pythonPath: string,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<PythonEnvironment> {
  const before = known.get(pythonPath);
  if (before && before.stamp === (await stampOf(before.watched))) {
    return before.environment;
  }
  const { packageFolders, ...environment } = await probe(pythonPath, options.signal);
  const watched = [pythonPath, ...packageFolders];
  known.set(pythonPath, { environment, watched, stamp: await stampOf(watched) });
  return environment;
}

/** Forgets what is known of an interpreter: something was installed. */
export function forgetEnvironment(pythonPath: string): void {
  known.delete(pythonPath);
}

async function probe(pythonPath: string, signal: AbortSignal | undefined): Promise<v.InferOutput<typeof answer>> {
  const result = await runProcess(pythonPath, ['-c', probeScript], {
    // With -c Python looks for modules in the working folder first: a folder of the user's named ray is not Ray.
    cwd: '/',
    env: { ...process.env, PYTHONSAFEPATH: '1' },
    limitMs: PROBE_LIMIT_MS,
    signal,
  }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) {
      throw new UserError(`There is no Python at ${pythonPath}. Choose another interpreter.`);
    }
    if (hasCode(error, 'EACCES')) {
      throw new UserError(`${pythonPath} may not be run. Choose another interpreter.`);
    }
    throw error;
  });
  const line = result.stdout.trimEnd().split('\n').at(-1) ?? '';
  try {
    return v.parse(answer, JSON.parse(line));
  } catch (error) {
    const said = result.stderr.trimEnd().split('\n').at(-1) ?? '';
    throw new UserError(
      `${pythonPath} does not work as a Python interpreter: ${said || messageOf(error)}. Choose another one.`,
    );
  }
}

async function stampOf(paths: readonly string[]): Promise<string> {
  const times = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return times.join(' ');
}
