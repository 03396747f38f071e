import * as vscode from 'vscode';
import type { PracticeModel } from '../benchmark/practiceModel';
import { type PresetKey, presetKeyOf, presetOf, type RunPreset } from '../benchmark/runPreset';
import type { NewRun, NewRunKey, Runs } from '../benchmark/runs';
import type { ClusterService } from '../cluster/service';
import { UserError } from '../common/userError';
import { hasEnded, type RunSnapshot } from '../protocol/runSnapshot';
import { runTitle } from '../results-page/words';
import { askKey, canHandOverKeys } from './askKey';
import { clusterForRuns } from './clusterForRuns';
import type { ModelKeys } from './modelKeys';
import { type Asker, runSteps } from './multiStep';
import { newRunOf, workspaceFolder } from './newRun';
import { withProgress } from './register';

export interface ContinueDependencies {
  readonly cluster: ClusterService;
  readonly runs: Runs;
  readonly submit: Runs['submit'];
  readonly practiceModel: PracticeModel;
  readonly keys: ModelKeys;
}

/** What may be other than in the run that is taken up again; all else must be the same for its answers to count. */
type Changes = Partial<Pick<NewRun, 'task' | 'shards' | 'repeats' | 'maxProblems'>>;

/**
 * Asks what a run has no answer to: what is missing after a stop, a crash or a lost cluster, the shards that failed, the
 * answers that failed at the endpoint. What is there is not paid for again.
 *
 * @returns the id of the run that goes on.
 */
export async function continueRun(dependencies: ContinueDependencies, id: unknown): Promise<string> {
  return await takeUp(dependencies, earlierRun(dependencies.runs, id), {});
}

/** The same with more problems or repeats: a pilot grows into the whole benchmark. */
export async function extendRun(dependencies: ContinueDependencies, id: unknown): Promise<string> {
  const run = earlierRun(dependencies.runs, id);
  const { request } = requestOf(dependencies.runs, run);
  const { problems, repeats } = await runSteps<{ problems?: string; repeats?: string }>(
    `Extend ${runTitle(run)}`,
    [
      async (ask, answers) => ({
        ...answers,
        problems: await ask.input({
          prompt: 'How many problems in all; empty for the whole benchmark',
          value: request.maxProblems === null ? '' : String(request.maxProblems),
          validate: (value) => (value === '' ? undefined : wholeNumberFrom(1, value)),
        }),
      }),
      async (ask, answers) => ({
        ...answers,
        repeats: await ask.input({
          prompt: 'How many repeats in all',
          value: String(request.repeats),
          validate: (value) => wholeNumberFrom(1, value),
        }),
      }),
    ],
    {},
  );
  return await takeUp(dependencies, run, {
    maxProblems: problems ? Number(problems) : null,
    repeats: Number(repeats),
  });
}

/** Scores the answers of a run with the benchmark's scorer as it is now. The model is asked nothing. */
export async function scoreAgain(dependencies: ContinueDependencies, id: unknown): Promise<string> {
  return await takeUp(dependencies, earlierRun(dependencies.runs, id), { task: 'score_again' });
}

async function takeUp(dependencies: ContinueDependencies, run: RunSnapshot, changes: Changes): Promise<string> {
  const cluster = await clusterForRuns(dependencies.cluster);
  const { request, own } = requestOf(dependencies.runs, run);
  const preset = presetOf(request, own ?? request.benchmark, workspaceFolder()?.uri.fsPath);
  const key = await keyAtHand(dependencies, run, preset);
  return await withProgress(`Submitting ${run.benchmark}`, async () => {
    const { suiteId, baselineId } = request;
    const same = await newRunOf({ ...preset, key }, dependencies);
    const kept = { outputFolder: run.outputFolder, suiteId, baselineId };
    return await dependencies.submit({ ...same, ...kept, task: 'ask', ...changes }, cluster);
  });
}

function earlierRun(runs: Runs, id: unknown): RunSnapshot {
  const run = runs.snapshot(typeof id === 'string' ? id : (runs.latest() ?? ''));
  if (!run) {
    throw new UserError('There is no run yet.', [
      { title: 'Submit a benchmark', command: 'shardboard.submitBenchmark' },
    ]);
  }
  if (!hasEnded(run.status) && run.status !== 'lost') {
    throw new UserError('The run is still going on. Wait until it has ended, or cancel it first.', [
      { title: 'Cancel run', command: 'shardboard.cancelRun', args: [run.id] },
    ]);
  }
  return run;
}

function requestOf(runs: Runs, run: RunSnapshot): NonNullable<ReturnType<Runs['requestOf']>> {
  const found = runs.requestOf(run.id);
  if (!found) {
    throw new UserError(`Nothing is kept of how the run ${run.id} was asked for. Submit it anew.`);
  }
  return found;
}

/** Where the key is, as the run had it; asked for only when it is not there any more. */
async function keyAtHand(dependencies: ContinueDependencies, run: RunSnapshot, preset: RunPreset): Promise<PresetKey> {
  const { key, modelUrl } = preset;
  const isStored = key.source === 'stored' && canHandOverKeys(dependencies.cluster);
  if (key.source !== 'stored' || (isStored && (await dependencies.keys.load(modelUrl)) !== undefined)) {
    return key;
  }
  const step = async (ask: Asker): Promise<{ key?: NewRunKey }> => ({ key: await askKey(ask, dependencies, modelUrl) });
  const asked = await runSteps<{ key?: NewRunKey }>(`Go on with ${runTitle(run)}`, [step], {});
  if (!asked.key) {
    throw new vscode.CancellationError();
  }
  return presetKeyOf(asked.key);
}

function wholeNumberFrom(least: number, value: string): string | undefined {
  return /^[1-9]\d{0,6}$/.test(value) && Number(value) >= least ? undefined : `A whole number from ${least} on`;
}
