import { resolve } from 'node:path';
import * as vscode from 'vscode';
import type { PracticeModel } from '../benchmark/practiceModel';
import { ownBenchmarkOf, PRACTICE, type PresetKey, type RunPreset } from '../benchmark/runPreset';
import type { NewRun, NewRunKey } from '../benchmark/runs';
import type { ClusterService } from '../cluster/service';
import { UserError } from '../common/userError';
import { resolveVariables } from '../python/interpreterFinder';
import { canHandOverKeys } from './askKey';
import type { ModelKeys } from './modelKeys';
import type { SettingDefaults } from './runFields';
import { startPracticeModel } from './togglePracticeModel';

/** Where VS Code keeps the key for gated datasets among those of the endpoints. */
export const DATASET_HOST = 'https://huggingface.co';

export interface NewRunDependencies {
  readonly cluster: ClusterService;
  readonly keys: ModelKeys;
  readonly practiceModel: PracticeModel;
}

/**
 * The run that a preset describes, ready to be submitted. Starts the practice model where that is the endpoint.
 *
 * @throws UserError when a key is not at hand, or the folder for results is none.
 */
export async function newRunOf(preset: RunPreset, dependencies: NewRunDependencies): Promise<NewRun> {
  const { practiceModel } = dependencies;
  const { benchmark, resultsFolder: _, requestsInFlight, key, judge, datasetKey, ...same } = preset;
  const defaults = settingDefaults();
  const keyOf = (source: PresetKey, endpoint: string): Promise<NewRunKey> => handed(source, endpoint, dependencies);
  return {
    ...same,
    benchmark: benchmarkOf(benchmark),
    key: await keyOf(key, preset.modelUrl),
    judge: judge && { ...judge, key: await keyOf(judge.key, judge.url) },
    datasetKey: await keyOf(datasetKey, DATASET_HOST),
    modelUrl: preset.modelUrl === PRACTICE ? await startPracticeModel(practiceModel) : preset.modelUrl,
    requestsInFlight: requestsInFlight ?? defaults.requestsInFlight,
    resultsFolder: resultsFolderOf(preset),
  };
}

/** The folder of the workspace that presets and settings are of. */
export function workspaceFolder(): vscode.WorkspaceFolder | undefined {
  return vscode.workspace.workspaceFolders?.[0];
}

/** The user's own benchmark file, or the evaluator's name. */
export function benchmarkOf(benchmark: string): NewRun['benchmark'] {
  return ownBenchmarkOf(benchmark, (path) => resolve(workspaceFolder()?.uri.fsPath ?? '/', path)) ?? benchmark;
}

/** What a run takes from the settings. */
export function settingDefaults(): SettingDefaults {
  const settings = vscode.workspace.getConfiguration('shardboard', workspaceFolder());
  return {
    requestsInFlight: settings.get<number>('requestsInFlight', 64),
    resultsFolder: resolveVariables(settings.get<string>('resultsFolder', ''), workspaceFolder()),
  };
}

/** Where the run is to get a folder of its own. */
export function resultsFolderOf({ resultsFolder }: RunPreset): string {
  return resultsFolder === null ? settingDefaults().resultsFolder : resolveVariables(resultsFolder, workspaceFolder());
}

async function handed(source: PresetKey, endpoint: string, { cluster, keys }: NewRunDependencies): Promise<NewRunKey> {
  if (source.source !== 'stored') {
    return source;
  }
  const host = new URL(endpoint).host;
  if (!canHandOverKeys(cluster)) {
    throw new UserError(
      `The key for ${host} is kept in VS Code, which can hand it only to a cluster on this machine. Name an environment variable of the cluster as the key's source.`,
    );
  }
  const value = await keys.load(endpoint);
  if (value === undefined) {
    throw new UserError(
      `VS Code keeps no key for ${host}. Submit a benchmark with this endpoint once and enter the key there.`,
      [{ title: 'Submit a benchmark', command: 'shardboard.submitBenchmark' }],
    );
  }
  return { source: 'value', value };
}
