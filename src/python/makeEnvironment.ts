import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, messageOf, UserError } from '../common/userError';
import { type PythonEnvironment, probeEnvironment } from './environment';
import { installedPythons, pythonsOnPath } from './findPrograms';
import { findUv, type InstallOptions, runInstaller } from './installPackages';
import { compareVersions, isSupportedPython } from './supportedVersions';

/** A Python that environments can be made with. */
export interface BasePython {
  readonly path: string;
  readonly version: string;
  /** The uv that makes them where this Python cannot itself, as Debian ships it. */
  readonly uv?: string;
}

/** The newest Python 3.12 or 3.13 of the machine that an environment can be made with; undefined when there is none. */
export async function findBasePython(): Promise<BasePython | undefined> {
  const candidates = new Set([...(await pythonsOnPath()), ...(await installedPythons())]);
  const bases = await Promise.all(
    // A shim whose version is not there, or no Python at all, is none.
    [...candidates].map((path) => probeEnvironment(path).then(baseOf, () => undefined)),
  );
  return bases
    .filter((base) => base !== undefined)
    .sort((a, b) => compareVersions(b.version, a.version))
    .at(0);
}

async function baseOf(environment: PythonEnvironment): Promise<BasePython | undefined> {
  const { python, executable, isOrdinary, isVirtual, ensurepip } = environment;
  // One that is made from an environment depends on it and breaks with it.
  if (!isSupportedPython(python) || !isOrdinary || isVirtual) {
    return undefined;
  }
  const base = { path: executable, version: python };
  if (ensurepip) {
    return base;
  }
  const uv = await findUv(executable);
  return uv === undefined ? undefined : { ...base, uv };
}

/**
 * Makes an environment with pip in the folder, in `.venv` or, where that is taken, beside it. Nothing is left when it fails or is aborted.
 *
 * @returns its interpreter
 * @throws UserError with the reason in a sentence; the signal's reason when it is aborted
 */
export async function makeEnvironment(base: BasePython, folder: string, options: InstallOptions): Promise<string> {
  const environment = await takeFolder(folder, ['.venv', `.venv-${base.version}`]);
  const python = join(environment, 'bin', 'python');
  try {
    const what = `Making an environment in ${environment}`;
    await (base.uv === undefined
      ? runInstaller(what, base.path, ['-m', 'venv', environment], options)
      : runInstaller(
          what,
          base.uv,
          ['venv', '--seed', '--allow-existing', '--python', base.path, environment],
          options,
        ));
    // uv and newer Pythons do it themselves.
    await writeFile(join(environment, '.gitignore'), '*\n', { flag: 'wx' }).catch(ignoreIfThere);
    await probeEnvironment(python, { signal: options.signal });
  } catch (error) {
    await rm(environment, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  }
  return python;
}

/** Makes the first of the folders that is not there yet: never one that somebody else has made. */
async function takeFolder(parent: string, names: readonly string[]): Promise<string> {
  for (const name of names) {
    const folder = join(parent, name);
    try {
      await mkdir(folder);
      return folder;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) {
        throw new UserError(`No environment can be made in ${parent}: ${messageOf(error)}.`, [], { cause: error });
      }
    }
  }
  throw new UserError(`${names.join(' and ')} are in ${parent} already. Choose one of them, or remove one.`);
}

function ignoreIfThere(error: unknown): void {
  if (!hasCode(error, 'EEXIST')) {
    throw error;
  }
}
