import * as vscode from 'vscode';
import { PRACTICE, parsePreset, type RunPreset } from '../benchmark/runPreset';
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
    createRunTerminal({ ...dependencies, submit: () => inTrust(() => submitTask(definition, dependencies)) }),
  );
  // Nothing of it is in a form that a problem matcher could read.
  return new vscode.Task(definition, scope, name, 'Shardboard', execution, []);
}

async function submitTask(definition: vscode.TaskDefinition, dependencies: TaskDependencies): Promise<string> {
  const preset = presetOfTask(definition);
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
function presetOfTask({ type: _, preset, ...own }: vscode.TaskDefinition): RunPreset {
  if (preset === undefined) {
    return parsePreset('the task in tasks.json', own);
  }
  const named = presetNamed(String(preset));
  return Object.keys(own).length === 0 ? named : parsePreset('the task in tasks.json', { ...named, ...own });
}
