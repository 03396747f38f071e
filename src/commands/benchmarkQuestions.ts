/** The questions of the quick way to a run: benchmark, shards, repeats, endpoint, model id, key. */
import * as vscode from 'vscode';
import { PRACTICE_MODEL_ID } from '../benchmark/practiceModel';
import { benchmarkText, isWebAddress, PRACTICE, presetKeyOf, type WrittenPreset } from '../benchmark/runPreset';
import { askKey } from './askKey';
import { type BenchmarkChoice, BUILT_IN, benchmarkNamed, benchmarkProblem } from './benchmarkChoices';
import { type Asker, type Separator, type Step, separator } from './multiStep';
import { type NewRunDependencies, workspaceFolder } from './newRun';
import { deletePreset, presetDescription, presetNamed, presetNames } from './presets';

/** What has been answered; a preset answers all at once. */
export interface Answers {
  readonly run: Partial<WrittenPreset>;
  readonly isPreset?: boolean;
  readonly isConfirmed?: boolean;
}

/** What is remembered from one submit to the next, for each workspace. No key among it. */
export interface Remembered {
  readonly benchmark?: string;
  readonly shards?: number;
  readonly repeats?: number;
  /** Endpoints used before, the last one first; the practice model is kept by name, since its port changes. */
  readonly endpoints?: readonly string[];
  readonly modelIds?: Readonly<Record<string, string>>;
  readonly keyVariable?: string;
  readonly judge?: WrittenPreset['judge'];
}

export interface QuestionDependencies extends NewRunDependencies {
  readonly findBenchmarks: () => Promise<readonly BenchmarkChoice[]>;
}

/** The first question. */
export function benchmarkStep(dependencies: QuestionDependencies, remembered: Remembered): Step<Answers> {
  return async (ask) => {
    const answer = await askBenchmark(ask, dependencies, remembered);
    if ('preset' in answer) {
      return { run: presetNamed(answer.preset), isPreset: true };
    }
    const { benchmark, needsJudge } = answer.choice;
    return {
      run: {
        benchmark: benchmarkText(benchmark, workspaceFolder()?.uri.fsPath),
        ...(needsJudge && { judge: await askJudge(ask, dependencies, remembered.judge ?? null) }),
      },
    };
  };
}

/** The questions after the first, which a preset has answered already. */
export function modelSteps(dependencies: QuestionDependencies, remembered: Remembered): readonly Step<Answers>[] {
  const asking =
    (question: (ask: Asker, run: Answers['run']) => Promise<Answers['run']>): Step<Answers> =>
    async (ask, answers) => ({ ...answers, run: { ...answers.run, ...(await question(ask, answers.run)) } });
  return [
    asking(async (ask) => ({
      shards: await askCount(
        ask,
        'How many shards: contiguous parts of the benchmark, one Ray task each',
        remembered.shards ?? 8,
      ),
    })),
    asking(async (ask) => ({
      repeats: await askCount(ask, 'How many repeats: times that each problem is asked', remembered.repeats ?? 1),
    })),
    asking(async (ask) => ({ modelUrl: await askEndpoint(ask, remembered) })),
    asking(async (ask, { modelUrl = '' }) => ({ modelId: await askModelId(ask, remembered, modelUrl) })),
    asking(async (ask, { modelUrl = '' }) => ({
      key: presetKeyOf(await askKey(ask, dependencies, modelUrl, remembered.keyVariable)),
    })),
  ];
}

/** What to remember of a run that is submitted. */
export function remember(before: Remembered, run: WrittenPreset): Remembered {
  const { benchmark, shards, repeats, modelUrl, modelId, key, judge } = run;
  return {
    ...before,
    benchmark,
    ...(shards !== undefined && { shards }),
    ...(repeats !== undefined && { repeats }),
    endpoints: [modelUrl, ...(before.endpoints ?? []).filter((other) => other !== modelUrl)].slice(0, 5),
    modelIds: { ...before.modelIds, [modelUrl]: modelId },
    ...(key?.source === 'environment' && { keyVariable: key.name }),
    ...(judge && { judge }),
  };
}

type BenchmarkItem = vscode.QuickPickItem &
  ({ readonly preset: string } | { readonly choice: BenchmarkChoice } | { readonly another: true });

const EDIT: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon('gear'),
  tooltip: 'Edit presets in the settings',
};
const DELETE: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('trash'), tooltip: 'Delete preset' };

async function askBenchmark(
  ask: Asker,
  { findBenchmarks }: QuestionDependencies,
  remembered: Remembered,
): Promise<{ readonly preset: string } | { readonly choice: BenchmarkChoice }> {
  const own = await findBenchmarks();
  const items = (): readonly (BenchmarkItem | Separator)[] => [
    ...section('Run a preset', presetNames().map(presetItem)),
    ...section('In this workspace', own.map(benchmarkItem)),
    ...section('Built into NeMo Evaluator', BUILT_IN.map(benchmarkItem)),
    separator('Elsewhere'),
    {
      label: 'Another benchmark…',
      description: 'A running Gym server (gym://host:port), or another URI',
      another: true,
    },
  ];
  const isRemembered = (item: BenchmarkItem | Separator): item is BenchmarkItem =>
    'choice' in item && benchmarkText(item.choice.benchmark, workspaceFolder()?.uri.fsPath) === remembered.benchmark;
  const offered = items();
  const picked = await ask.pick<BenchmarkItem>({
    placeholder: 'Which benchmark',
    items: offered,
    active: offered.find(isRemembered),
    isNoAnswer: (item) => 'choice' in item && item.choice.refusal !== undefined,
    async onButton(item, button) {
      if (button === DELETE && 'preset' in item) {
        await deletePreset(item.preset);
      } else {
        await vscode.commands.executeCommand('shardboard.openSetting', 'shardboard.presets');
      }
      return items();
    },
  });
  if (!('another' in picked)) {
    return picked;
  }
  const typed = await ask.input({
    prompt: 'Name or URI of the benchmark, as NeMo Evaluator takes it',
    placeholder: 'gym://127.0.0.1:8000',
    validate: benchmarkProblem,
  });
  return { choice: benchmarkNamed(typed) };
}

function section(name: string, items: readonly BenchmarkItem[]): readonly (BenchmarkItem | Separator)[] {
  return items.length === 0 ? [] : [separator(name), ...items];
}

function presetItem(preset: string): BenchmarkItem {
  return { label: preset, description: presetDescription(preset), buttons: [EDIT, DELETE], preset };
}

function benchmarkItem(choice: BenchmarkChoice): BenchmarkItem {
  const { label, description, refusal } = choice;
  return { label: refusal === undefined ? label : `$(circle-slash) ${label}`, description, choice };
}

/** Asks which model judges. */
export async function askJudge(
  ask: Asker,
  dependencies: QuestionDependencies | NewRunDependencies,
  proposed: WrittenPreset['judge'],
): Promise<NonNullable<WrittenPreset['judge']>> {
  const url = await askAddress(
    ask,
    'Address of the judge: the endpoint of the model that gives the score',
    proposed?.url,
  );
  const modelId = await ask.input({
    prompt: 'Model id of the judge, as its endpoint knows it',
    value: proposed?.modelId ?? '',
    validate: (value) => (value === '' ? 'The endpoint needs the name of a model' : undefined),
  });
  return { url, modelId, key: presetKeyOf(await askKey(ask, dependencies, url)) };
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
  return picked.endpoint === ''
    ? await askAddress(ask, 'Address of the endpoint, ending in /v1 or /v1/chat/completions')
    : picked.endpoint;
}

async function askAddress(ask: Asker, prompt: string, value = ''): Promise<string> {
  return await ask.input({
    prompt,
    value,
    placeholder: 'https://example.com/v1',
    validate: (typed) =>
      isWebAddress(typed) ? undefined : 'An address that starts with http:// or https://, without a name or key in it',
  });
}

async function askModelId(ask: Asker, remembered: Remembered, endpoint: string): Promise<string> {
  return await ask.input({
    prompt: 'Model id, as the endpoint knows it',
    value: remembered.modelIds?.[endpoint] ?? (endpoint === PRACTICE ? PRACTICE_MODEL_ID : ''),
    validate: (value) => (value === '' ? 'The endpoint needs the name of a model' : undefined),
  });
}
