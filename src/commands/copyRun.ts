import { isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';
import { asPython, asRayJobSubmit, type CopiedRun } from '../benchmark/copyAs';
import { PRACTICE, presetOf, type RunPreset } from '../benchmark/runPreset';
import type { Runs } from '../benchmark/runs';
import { driverAccess } from '../cluster/driverAccess';
import type { ClusterService } from '../cluster/service';
import { UserError } from '../common/userError';
import { benchmarkOf, type NewRunDependencies, resultsFolderOf, settingDefaults, workspaceFolder } from './newRun';
import { startPracticeModel } from './togglePracticeModel';

export type CopyForm = 'shell' | 'python';

/** Puts a run on the clipboard, as the stock launcher does it on the chosen cluster. */
export async function copyRun(
  { cluster, practiceModel }: Pick<NewRunDependencies, 'cluster' | 'practiceModel'>,
  preset: RunPreset,
  form: CopyForm,
): Promise<void> {
  const benchmark = benchmarkOf(preset.benchmark);
  const resultsFolder = resultsFolderOf(preset);
  if (!isAbsolute(resultsFolder)) {
    throw new UserError('The folder for results must be an absolute path, or the launcher writes where nobody looks.', [
      { title: 'Open setting', command: 'shardboard.openSetting', args: ['shardboard.resultsFolder'] },
    ]);
  }
  const run: CopiedRun = {
    preset,
    own: typeof benchmark === 'string' ? undefined : benchmark,
    modelUrl: preset.modelUrl === PRACTICE ? await startPracticeModel(practiceModel) : preset.modelUrl,
    // The launcher takes no care of what is there.
    outputFolder: join(resultsFolder, `stock-${new Date().toISOString().replace(/[-:]/g, '').slice(0, 15)}`),
    ...(await placeOf(cluster)),
  };
  await vscode.env.clipboard.writeText(form === 'shell' ? asRayJobSubmit(run) : asPython(run));
  const what = form === 'shell' ? 'The command' : 'The Python program';
  void vscode.window.showInformationMessage(
    `${what} is on the clipboard. The stock launcher does it, without Shardboard.`,
  );
}

/** What a run was submitted with, as a preset. */
export function presetOfRun(runs: Pick<Runs, 'requestOf' | 'latest'>, id: unknown): RunPreset {
  const chosen = typeof id === 'string' ? id : runs.latest();
  const told = chosen === undefined ? undefined : runs.requestOf(chosen);
  if (!told) {
    const reason =
      chosen === undefined
        ? 'There is no run yet.'
        : 'This run was not submitted from here, and its settings are not known.';
    throw new UserError(reason, [{ title: 'Submit a benchmark', command: 'shardboard.submitBenchmark' }]);
  }
  const preset = presetOf(told.request, told.own ?? told.request.benchmark, workspaceFolder()?.uri.fsPath);
  // What came from the settings is to come from there again, also for others who share the preset.
  const { requestsInFlight, resultsFolder } = settingDefaults();
  return {
    ...preset,
    requestsInFlight: preset.requestsInFlight === requestsInFlight ? null : preset.requestsInFlight,
    resultsFolder: preset.resultsFolder === resultsFolder ? null : preset.resultsFolder,
  };
}

async function placeOf(cluster: ClusterService): Promise<Pick<CopiedRun, 'dashboardUrl' | 'gcsAddress' | 'python'>> {
  const state = cluster.state();
  const client = cluster.client();
  if (state.kind !== 'running' || !client) {
    throw new UserError('There is no Ray cluster whose address could be copied along. Start one, or join one.', [
      { title: 'Start Ray', command: 'shardboard.startCluster' },
      { title: 'Join a cluster', command: 'shardboard.joinCluster' },
    ]);
  }
  const access = await driverAccess(cluster);
  const head = state.nodes.find(({ isHead, state }) => isHead && state === 'ALIVE');
  return {
    dashboardUrl: state.dashboardUrl,
    gcsAddress: 'reason' in access ? undefined : access.gcsAddress,
    python: (head && (await client.pythonOf(head.id).catch(() => undefined))) ?? 'python',
  };
}
