import { resolve } from 'node:path';
import * as vscode from 'vscode';
import { benchmarkText, ownBenchmarkOf, PRACTICE, parsePreset, type RunPreset } from '../benchmark/runPreset';
import type { Runs } from '../benchmark/runs';
import { UserError } from '../common/userError';
import { clusterForRuns } from './clusterForRuns';
import { inTrust } from './inTrust';
import { type NewRunDependencies, newRunOf, workspaceFolder } from './newRun';
import { presetNamed, presetNames } from './presets';
import { createRunTerminal } from './runTerminal';
import { refusalBeforeSubmit } from './summaryStep';

/** As in `taskDefinitions` of package.json. */
const TYPE = 'shardboard';

export interface TaskDependencies extends NewRunDependencies {
  readonly runs: Pick<Runs, 'all' | 'requestOf' | 'snapshot' | 'onDidChange' | 'cancel'>;
  readonly submit: Runs['submit'];
  readonly titleOf: (command: string) => string | undefined;
}

/** Offers the presets as tasks, and runs those that are written in tasks.json. */
export function registerRunTasks(dependencies: TaskDependencies): vscode.Disposable {
  return vscode.tasks.registerTaskProvider(TYPE, {
    provideTasks: () =>
      presetNames().map((name) =>
        taskOf({ type: TYPE, preset: name }, workspaceFolder() ?? vscode.TaskScope.Workspace, name, dependencies),
      ),
    resolveTask: ({ definition, scope, name }) =>
      taskOf(definition, scope ?? vscode.TaskScope.Workspace, name, dependencies),
  });
}

function taskOf(
  definition: vscode.TaskDefinition,
  scope: vscode.WorkspaceFolder | vscode.TaskScope,
  name: string,
  dependencies: TaskDependencies,
): vscode.Task {
  const execution = new vscode.CustomExecution(async () =>
    createRunTerminal({ ...dependencies, submit: () => inTrust(() => submitTask(definition, scope, dependencies)) }),
  );
  // Nothing of it is in a form that a problem matcher could read.
  return new vscode.Task(definition, scope, name, 'Shardboard', execution, []);
}

async function submitTask(
  definition: vscode.TaskDefinition,
  scope: vscode.WorkspaceFolder | vscode.TaskScope,
  dependencies: TaskDependencies,
): Promise<string> {
  const folder = typeof scope === 'object' ? scope : workspaceFolder();
  const preset = inFolder(presetOfTask(definition, folder), folder);
  const cluster = await clusterForRuns(dependencies.cluster);
  const refusal = await refusalBeforeSubmit(dependencies, preset);
  if (refusal !== undefined) {
    throw new UserError(refusal);
  }
  const run = await newRunOf(preset, dependencies);
  if (preset.modelUrl === PRACTICE) {
    await dependencies.practiceModel.reset();
  }
  return await dependencies.submit(run, cluster);
}

/** A preset, with what the task says itself in place of what the preset says. */
function presetOfTask(
  { type: _, preset, ...own }: vscode.TaskDefinition,
  folder: vscode.WorkspaceFolder | undefined,
): RunPreset {
  const named = preset === undefined ? {} : presetNamed(String(preset), folder);
  return parsePreset('the task in tasks.json', { ...named, ...own });
}

/** A task of one of several folders means files of its own folder. */
function inFolder(preset: RunPreset, folder: vscode.WorkspaceFolder | undefined): RunPreset {
  const own = ownBenchmarkOf(preset.benchmark, (path) => resolve(folder?.uri.fsPath ?? '/', path));
  return own ? { ...preset, benchmark: benchmarkText(own, undefined) } : preset;
}
