import * as vscode from 'vscode';
import { PRACTICE, parsePreset } from '../benchmark/runPreset';
import type { Runs } from '../benchmark/runs';
import {
  type Answers,
  benchmarkStep,
  modelSteps,
  type QuestionDependencies,
  type Remembered,
  remember,
} from './benchmarkQuestions';
import { clusterForRuns } from './clusterForRuns';
import { runSteps } from './multiStep';
import { newRunOf } from './newRun';
import { withProgress } from './register';
import { type SummaryDependencies, summaryStep } from './summaryStep';

export interface SubmitDependencies extends QuestionDependencies, SummaryDependencies {
  readonly context: vscode.ExtensionContext;
  readonly submit: Runs['submit'];
}

const MEMORY = 'submit.remembered';

/** Asks for a run in one row of questions and submits it. The practice model is started when it is chosen and not running. */
export async function submitBenchmark(dependencies: SubmitDependencies): Promise<string> {
  const { context, practiceModel } = dependencies;
  const cluster = await clusterForRuns(dependencies.cluster);
  const remembered = context.workspaceState.get<Remembered>(MEMORY, {});
  // Named in the title of every question: which cluster it goes to is seen before anything is sent.
  const title = `Submit sharded benchmark to ${cluster.name}`;
  const first = benchmarkStep(dependencies, remembered);
  const summary = summaryStep(dependencies, cluster.name);
  const others = modelSteps(dependencies, remembered);
  const stepsFor = ({ isPreset }: Answers) => (isPreset ? [first, summary] : [first, ...others, summary]);
  const answers = await runSteps<Answers>(title, stepsFor, { run: {} });
  if (!answers.isConfirmed) {
    throw new vscode.CancellationError();
  }
  const preset = parsePreset('the run', answers.run);
  await context.workspaceState.update(MEMORY, remember(remembered, preset));
  return await withProgress(`Submitting ${preset.benchmark}`, async () => {
    const run = await newRunOf(preset, dependencies);
    if (preset.modelUrl === PRACTICE) {
      // With nothing asked of it yet, so that the run can be repeated to the digit.
      await practiceModel.reset();
    }
    return await dependencies.submit(run, cluster);
  });
}
