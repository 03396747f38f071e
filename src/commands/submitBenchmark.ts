import * as vscode from 'vscode';
import { PRACTICE_MODEL_ID, type PracticeModel } from '../benchmark/practiceModel';
import type { NewRun, NewRunKey, Runs } from '../benchmark/runs';
import { isHeadHere } from '../cluster/driverAccess';
import type { ClusterService } from '../cluster/service';
import { UserError } from '../common/userError';
import { resolveVariables } from '../python/interpreterFinder';
import { isSupportedCluster, SUPPORTED_CLUSTER } from '../python/supportedVersions';
import type { RayClient, RayNode } from '../ray/client';
import { type BenchmarkChoice, benchmarkChoices } from './benchmarkChoices';
import { checkEnvironment } from './checkEnvironment';
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
const PRACTICE = 'practice';

/** Asks for a run in one row of questions and submits it. The practice model is started when it is chosen and not running. */
export async function submitBenchmark(dependencies: SubmitDependencies): Promise<string> {
  const { context, cluster, practiceModel } = dependencies;
  const client = cluster.client();
  const state = cluster.state();
  if (!client || state.kind !== 'running') {
    throw new UserError('There is no Ray cluster to send the benchmark to. Start one, or join one.', [
      { title: 'Start Ray', command: 'shardboard.startCluster' },
      { title: 'Join a cluster', command: 'shardboard.joinCluster' },
    ]);
  }
  // Jobs run in the Python that the cluster was started with, whichever is chosen now.
  const python = cluster.python();
  if (python !== undefined) {
    await checkEnvironment(python, 'benchmark');
  }
  const name = clusterName(state.origin, state.dashboardUrl);
  await checkVersions(client, name, state.rayVersion);
  const remembered = context.workspaceState.get<Remembered>(MEMORY, {});
  // Named in the title of every question: which cluster it goes to is seen before anything is sent.
  const title = `Submit sharded benchmark to ${name}`;
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
    return await dependencies.submit(run, {
      name,
      sessionName: state.sessionName,
      startedHere: state.origin === 'started',
      client,
      python: await pythonOf(client, state.nodes),
    });
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
    async (ask, answers) => ({ ...answers, key: await askKey(ask, dependencies, remembered, answers.endpoint ?? '') }),
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

async function askKey(
  ask: Asker,
  dependencies: SubmitDependencies,
  remembered: Remembered,
  endpoint: string,
): Promise<NewRunKey> {
  const { keys, cluster } = dependencies;
  const state = cluster.state();
  // A key in a file reaches only a cluster on this machine; to another it must be known already.
  const canHandOver = state.kind === 'running' && (state.origin === 'started' || isHeadHere(state.nodes));
  const stored = canHandOver && endpoint !== PRACTICE ? await keys.load(endpoint) : undefined;
  const none = { label: 'No key', description: 'The endpoint asks for none', answer: 'none' };
  const items = [
    ...(stored === undefined
      ? []
      : [{ label: 'Stored key', description: `Kept by VS Code for ${new URL(endpoint).host}`, answer: 'stored' }]),
    none,
    ...(canHandOver && endpoint !== PRACTICE
      ? [{ label: 'Enter a key…', description: "Kept in VS Code's secret storage", answer: 'enter' }]
      : []),
    {
      label: 'Environment variable on the cluster…',
      description: 'A variable that the cluster was started with',
      answer: 'environment',
    },
  ];
  const { answer } = await ask.pick({ placeholder: 'Which key', items });
  switch (answer) {
    case 'stored':
      return { source: 'value', value: stored ?? '' };
    case 'enter': {
      const value = await ask.input({
        prompt: 'Key of the endpoint',
        password: true,
        validate: (text) => (text === '' ? 'A key is needed here, or go back and choose none' : undefined),
      });
      await keys.save(endpoint, value);
      return { source: 'value', value };
    }
    case 'environment': {
      const name = await ask.input({
        prompt: 'Name of the environment variable',
        value: remembered.keyVariable ?? 'NVIDIA_API_KEY',
        validate: (text) =>
          /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) ? undefined : 'A name of letters, digits and underscores',
      });
      return { source: 'environment', name };
    }
    default:
      return { source: 'none' };
  }
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

/**
 * Jobs run in the cluster's own Python, so what it has counts, not what is chosen here.
 *
 * @throws UserError when benchmarks do not run on these versions.
 */
async function checkVersions(client: RayClient, name: string, rayVersion: string): Promise<void> {
  const pythonVersion = await client.pythonVersion();
  if (!isSupportedCluster(rayVersion, pythonVersion)) {
    throw new UserError(
      `The cluster that is chosen (${name}) runs Ray ${rayVersion} on Python ${pythonVersion}, and benchmarks need ${SUPPORTED_CLUSTER}. Join a cluster that has them, or start one here.`,
      [{ title: 'Join another cluster', command: 'shardboard.joinCluster' }],
    );
  }
}

/** The Python that the head node runs Ray with: jobs start there. */
async function pythonOf(client: RayClient, nodes: readonly RayNode[]): Promise<string | undefined> {
  const head = nodes.find(({ isHead, state }) => isHead && state === 'ALIVE');
  return head && (await client.pythonOf(head.id).catch(() => undefined));
}

function clusterName(origin: 'started' | 'joined', dashboardUrl: string): string {
  return origin === 'started' ? 'local cluster' : new URL(dashboardUrl).host;
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
