import * as vscode from 'vscode';
import { PRACTICE_MODEL_ID, type PracticeModel } from '../benchmark/practiceModel';
import type { NewRun, NewRunKey, Runs } from '../benchmark/runs';
import type { ClusterService } from '../cluster/service';
import { UserError } from '../common/userError';
import { resolveVariables } from '../python/interpreterFinder';
import { askKey, PRACTICE } from './askKey';
import { type BenchmarkChoice, benchmarkChoices } from './benchmarkChoices';
import { clusterForRuns } from './clusterForRuns';
import type { ModelKeys } from './modelKeys';
import { type Asker, runSteps, type Step } from './multiStep';
import { withProgress } from './register';
import { startPracticeModel } from './togglePracticeModel';

export interface SubmitDependencies {
  readonly context: vscode.ExtensionContext;
  readonly cluster: ClusterService;
  readonly submit: Runs['submit'];
  readonly practiceModel: PracticeModel;
  readonly keys: ModelKeys;
  readonly findBenchmarks: () => Promise<readonly BenchmarkChoice[]>;
}

/** What is remembered from one submit to the next, for each workspace. No key among it. */
interface Remembered {
  readonly benchmark?: string;
  readonly shards?: number;
  readonly repeats?: number;
  /** Endpoints used before, the last one first; the practice model is kept by name, since its port changes. */
  readonly endpoints?: readonly string[];
  readonly modelIds?: Readonly<Record<string, string>>;
  readonly keyVariable?: string;
}

interface Answers {
  readonly benchmark?: BenchmarkChoice;
  readonly shards?: number;
  readonly repeats?: number;
  readonly endpoint?: string;
  readonly modelId?: string;
  readonly key?: NewRunKey;
}

const MEMORY = 'submit.remembered';

/** Asks for a run in one row of questions and submits it. The practice model is started when it is chosen and not running. */
export async function submitBenchmark(dependencies: SubmitDependencies): Promise<string> {
  const { context, practiceModel } = dependencies;
  const cluster = await clusterForRuns(dependencies.cluster);
  const remembered = context.workspaceState.get<Remembered>(MEMORY, {});
  // Named in the title of every question: which cluster it goes to is seen before anything is sent.
  const title = `Submit sharded benchmark to ${cluster.name}`;
  const answers = await runSteps<Answers>(title, stepsFor(dependencies, remembered), {});
  const { benchmark, shards, repeats, endpoint, modelId, key } = answers;
  if (!benchmark || !shards || !repeats || !endpoint || !modelId || !key) {
    throw new vscode.CancellationError();
  }
  await context.workspaceState.update(MEMORY, remember(remembered, answers));
  const folder = vscode.workspace.workspaceFolders?.[0];
  const settings = vscode.workspace.getConfiguration('shardboard', folder);
  return await withProgress(`Submitting ${benchmark.label}`, async () => {
    const run: NewRun = {
      benchmark: benchmark.benchmark,
      shards,
      repeats,
      maxProblems: null,
      modelUrl: endpoint === PRACTICE ? await freshPracticeModel(practiceModel) : endpoint,
      modelId,
      key,
      requestsInFlight: settings.get<number>('requestsInFlight', 32),
      resultsFolder: resultsFolder(settings.get<string>('resultsFolder', ''), folder),
    };
    return await dependencies.submit(run, cluster);
  });
}

function stepsFor(dependencies: SubmitDependencies, remembered: Remembered): readonly Step<Answers>[] {
  return [
    async (ask, answers) => ({ ...answers, benchmark: await askBenchmark(ask, dependencies, remembered) }),
    async (ask, answers) => ({
      ...answers,
      shards: await askCount(
        ask,
        'How many shards: contiguous parts of the benchmark, one Ray task each',
        remembered.shards ?? 8,
      ),
    }),
    async (ask, answers) => ({
      ...answers,
      repeats: await askCount(ask, 'How many repeats: times that each problem is asked', remembered.repeats ?? 1),
    }),
    async (ask, answers) => ({ ...answers, endpoint: await askEndpoint(ask, remembered) }),
    async (ask, answers) => ({ ...answers, modelId: await askModelId(ask, remembered, answers.endpoint ?? '') }),
    async (ask, answers) => ({
      ...answers,
      key: await askKey(ask, dependencies, answers.endpoint ?? '', remembered.keyVariable),
    }),
  ];
}

async function askBenchmark(
  ask: Asker,
  dependencies: SubmitDependencies,
  remembered: Remembered,
): Promise<BenchmarkChoice> {
  const choices = benchmarkChoices(await dependencies.findBenchmarks());
  const items = choices.map((choice) => ({ label: choice.label, description: choice.description, choice }));
  const active = items.find((item) => item.label === remembered.benchmark);
  return (await ask.pick({ placeholder: 'Which benchmark', items, active })).choice;
}

async function askCount(ask: Asker, prompt: string, proposed: number): Promise<number> {
  const validate = (value: string): string | undefined =>
    /^[1-9]\d{0,4}$/.test(value) ? undefined : 'A whole number from 1 on';
  return Number(await ask.input({ prompt, value: String(proposed), validate }));
}

async function askEndpoint(ask: Asker, remembered: Remembered): Promise<string> {
  const before = (remembered.endpoints ?? []).filter((endpoint) => endpoint !== PRACTICE);
  const items = [
    {
      label: 'Practice model',
      description: 'On this machine, needs no key. Started when it is not running',
      endpoint: PRACTICE,
    },
    ...before.map((endpoint) => ({ label: endpoint, description: 'Used before', endpoint })),
    { label: 'Another endpoint…', description: 'The address of an OpenAI-compatible chat endpoint', endpoint: '' },
  ];
  const active = items.find((item) => item.endpoint === remembered.endpoints?.[0]);
  const picked = await ask.pick({ placeholder: 'Which model endpoint', items, active });
  if (picked.endpoint !== '') {
    return picked.endpoint;
  }
  return await ask.input({
    prompt: 'Address of the endpoint, ending in /v1 or /v1/chat/completions',
    placeholder: 'https://example.com/v1',
    validate: (value) => (isWebAddress(value) ? undefined : 'An address that starts with http:// or https://'),
  });
}

async function askModelId(ask: Asker, remembered: Remembered, endpoint: string): Promise<string> {
  return await ask.input({
    prompt: 'Model id, as the endpoint knows it',
    value: remembered.modelIds?.[endpoint] ?? (endpoint === PRACTICE ? PRACTICE_MODEL_ID : ''),
    validate: (value) => (value === '' ? 'The endpoint needs the name of a model' : undefined),
  });
}

function remember(before: Remembered, answers: Answers): Remembered {
  const endpoint = answers.endpoint ?? '';
  return {
    ...before,
    ...(answers.benchmark && { benchmark: answers.benchmark.label }),
    ...(answers.shards && { shards: answers.shards }),
    ...(answers.repeats && { repeats: answers.repeats }),
    endpoints: [endpoint, ...(before.endpoints ?? []).filter((other) => other !== endpoint)].slice(0, 5),
    modelIds: { ...before.modelIds, [endpoint]: answers.modelId ?? '' },
    ...(answers.key?.source === 'environment' && { keyVariable: answers.key.name }),
  };
}

/** The practice model, running and with nothing asked of it yet, so that the run can be repeated to the digit. */
async function freshPracticeModel(practiceModel: PracticeModel): Promise<string> {
  const url = await startPracticeModel(practiceModel);
  await practiceModel.reset();
  return url;
}

function resultsFolder(configured: string, folder: vscode.WorkspaceFolder | undefined): string {
  const path = resolveVariables(configured, folder);
  // The job runs in Ray's own copy of the package: what is written relative to that is never found again.
  if (!path.startsWith('/')) {
    throw new UserError(
      'The folder for results must be an absolute path. Open a folder in VS Code, or change the setting shardboard.resultsFolder.',
      [{ title: 'Open setting', command: 'shardboard.openSetting', args: ['shardboard.resultsFolder'] }],
    );
  }
  return path;
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
