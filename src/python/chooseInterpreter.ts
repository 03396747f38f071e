import { join } from 'node:path';
import { UserError } from '../common/userError';
import { probeEnvironment } from './environment';
import { isExecutable, pythonsOnPath } from './findPrograms';
import { isSupportedPython } from './supportedVersions';

/** A Python interpreter, and why it is this one. */
export interface FoundInterpreter {
  readonly path: string;
  /** Where it was found, to be read after "from". */
  readonly from: string;
  /** What kept a better place from being asked, one sentence each; for the log. */
  readonly notes: readonly string[];
}

/** What VS Code's Python extensions say. */
export interface ExtensionAnswer {
  /** The interpreter that is chosen there. */
  readonly chosen?: { readonly path: string; readonly from: string };
  /** What kept one from being asked, one sentence each. */
  readonly notes: readonly string[];
}

/** The places in which an interpreter is looked for. */
export interface InterpreterPlaces {
  /** The setting with its variables replaced; empty when it is not set. */
  readonly setting: string;
  readonly extensions: () => Promise<ExtensionAnswer>;
  /** The folder of the workspace that it is for. */
  readonly folder: string | undefined;
  /** The PATH; that of this process by default. */
  readonly path?: string | undefined;
}

const actions = [
  { title: 'Set up Python', command: 'shardboard.setUpEnvironment' },
  { title: 'Open setting', command: 'shardboard.openSetting', args: ['shardboard.pythonPath'] },
];

/**
 * Finds the interpreter that runs Ray and the evaluator: our own setting, else what VS Code's Python extensions have chosen,
 * else the workspace's `.venv`, else the PATH.
 *
 * @throws UserError when there is none, or when the setting names a file that cannot be run
 */
export async function chooseInterpreter(places: InterpreterPlaces): Promise<FoundInterpreter> {
  const { setting, folder } = places;
  if (setting !== '') {
    if (!(await isExecutable(setting))) {
      throw new UserError(
        `There is no Python at ${setting}, which the setting shardboard.pythonPath names. Make the environment, or change the setting.`,
        actions,
      );
    }
    return { path: setting, from: 'the setting shardboard.pythonPath', notes: [] };
  }
  const { chosen, notes } = await places.extensions();
  if (chosen && (await isExecutable(chosen.path))) {
    return { ...chosen, notes };
  }
  const gone = chosen ? [`${chosen.path}, from ${chosen.from}, cannot be run.`] : [];
  const all = [...notes, ...gone];
  const inWorkspace = folder === undefined ? undefined : join(folder, '.venv', 'bin', 'python');
  if (inWorkspace !== undefined && (await isExecutable(inWorkspace))) {
    return { path: inWorkspace, from: "the workspace's .venv", notes: all };
  }
  const onPath = await bestOnPath(places.path ?? process.env.PATH);
  if (onPath !== undefined) {
    return { path: onPath, from: 'the PATH', notes: all };
  }
  throw new UserError(
    'No Python was found: the setting shardboard.pythonPath is empty, no Python extension has chosen one, the workspace has no .venv, and none on the PATH runs.',
    actions,
  );
}

/** The first that will do, else the first that runs: names prove nothing, and a version manager's shim may not run. */
async function bestOnPath(path: string | undefined): Promise<string | undefined> {
  let first: string | undefined;
  for (const candidate of await pythonsOnPath(path)) {
    const environment = await probeEnvironment(candidate).catch(() => undefined);
    if (environment && isSupportedPython(environment.python)) {
      return environment.executable;
    }
    first ??= environment?.executable;
  }
  return first;
}
