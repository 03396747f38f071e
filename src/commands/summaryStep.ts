/** The last step of the form: what the run will be, and every way to change it, keep it or copy it before it is sent. */
import { access } from 'node:fs/promises';
import * as vscode from 'vscode';
import { earlierRunOf } from '../benchmark/earlierRun';
import { type Estimate, estimateRun } from '../benchmark/estimate';
import { tooLarge } from '../benchmark/jobPackage';
import { type PackageFiles, packageFilesOf } from '../benchmark/packageFiles';
import { refusalOf } from '../benchmark/refusals';
import { parsePreset, presetKeyOf, type RunPreset } from '../benchmark/runPreset';
import type { Runs } from '../benchmark/runs';
import { askKey } from './askKey';
import { benchmarkNamed } from './benchmarkChoices';
import { type Answers, askJudge } from './benchmarkQuestions';
import { type Asker, type Step, separator } from './multiStep';
import { benchmarkOf, DATASET_HOST, type NewRunDependencies, resultsFolderOf, settingDefaults } from './newRun';
import { savePreset } from './presets';
import { isChanged, proposedText, RUN_FIELDS, type RunField, shownValue, withField } from './runFields';
import { changedText, keyText, type SummaryFacts, summaryRows } from './summaryRows';

export interface SummaryDependencies extends NewRunDependencies {
  readonly runs: Pick<Runs, 'all' | 'snapshot' | 'requestOf'>;
  /** Puts the run on the clipboard for the stock launcher. */
  readonly copy: (run: RunPreset, form: 'shell' | 'python') => Promise<void>;
}

type Action = 'submit' | 'settings' | 'save' | 'shell' | 'python';
type ActionItem = vscode.QuickPickItem & { readonly action: Action };

/** Shows the summary until the person submits. */
export function summaryStep(dependencies: SummaryDependencies, clusterName: string): Step<Answers> {
  return async (ask, answers) => {
    let run = parsePreset('the run', answers.run);
    // Once: a folder can hold a hundred thousand files.
    const packed = await packageOf(run.benchmark);
    for (;;) {
      const { facts, refusal } = look(dependencies, run, packed, clusterName);
      const { action } = await ask.pick<ActionItem>({
        placeholder: refusal ?? 'Enter submits; every other line changes something before that',
        items: items(run, facts, refusal),
        isNoAnswer: (item) => item.action === 'submit' && refusal !== undefined,
      });
      switch (action) {
        case 'submit':
          return { ...answers, run, isConfirmed: true };
        case 'settings':
          run = await changeSettings(ask, dependencies, run);
          break;
        case 'save':
          await savePreset(run).catch(ignoreCancel);
          break;
        default:
          await dependencies.copy(run, action);
      }
    }
  };
}

/** Why a run cannot be sent, as far as this window can tell; undefined when nothing is known against it. */
export async function refusalBeforeSubmit(
  dependencies: Pick<SummaryDependencies, 'runs'>,
  run: RunPreset,
): Promise<string | undefined> {
  return look(dependencies, run, await packageOf(run.benchmark), '').refusal;
}

function look(
  { runs }: Pick<SummaryDependencies, 'runs'>,
  run: RunPreset,
  packed: PackageFiles | string | undefined,
  clusterName: string,
): { facts: SummaryFacts; refusal: string | undefined } {
  const benchmark = benchmarkOf(run.benchmark);
  const defaults = settingDefaults();
  const planned = { ...run, requestsInFlight: run.requestsInFlight ?? defaults.requestsInFlight };
  const estimate = estimateRun(planned, earlierRunOf(runs, benchmark, run.modelId));
  const resultsFolder = resultsFolderOf(run);
  return {
    facts: {
      clusterName,
      estimate,
      packed: typeof packed === 'string' ? undefined : packed,
      defaults,
      resultsFolder,
    },
    refusal:
      typeof packed === 'string'
        ? packed
        : (refusalOfAll(run, estimate, resultsFolder, runs) ?? (packed && tooLarge(packed))),
  };
}

function refusalOfAll(
  run: RunPreset,
  { problems }: Estimate,
  resultsFolder: string,
  runs: SummaryDependencies['runs'],
): string | undefined {
  const { refusal, needsJudge } = benchmarkNamed(run.benchmark);
  if (refusal !== undefined) {
    return `${run.benchmark} cannot be run here: ${refusal}.`;
  }
  if (needsJudge && run.judge === null) {
    return `${run.benchmark} leaves the score to a judge: name one under More settings, or every answer would count 0.`;
  }
  const requests = runs.all().flatMap((id) => runs.requestOf(id)?.request ?? []);
  const otherFolders = requests.filter(({ outputPlace }) => outputPlace === 'folder').map((each) => each.outputFolder);
  return refusalOf(run, { problems, resultsFolder, otherFolders });
}

/** What travels along with a benchmark, if anything, or why it cannot be read. */
async function packageOf(named: string): Promise<PackageFiles | string | undefined> {
  const benchmark = benchmarkOf(named);
  if (typeof benchmark === 'string') {
    return undefined;
  }
  try {
    await access(benchmark.file);
    return await packageFilesOf(benchmark.file);
  } catch {
    return `The benchmark's file ${benchmark.file} cannot be read. Correct its path, or choose another benchmark.`;
  }
}

function items(
  run: RunPreset,
  facts: SummaryFacts,
  refusal: string | undefined,
): (ActionItem | ReturnType<typeof separator>)[] {
  return [
    refusal === undefined
      ? { label: '$(rocket) Submit', description: `to ${facts.clusterName}`, action: 'submit' }
      : { label: '$(error) Cannot be submitted yet', detail: refusal, action: 'submit' },
    separator('Summary'),
    ...summaryRows(run, facts).map((row): ActionItem => ({ ...row, action: 'settings' })),
    separator('Before it is sent'),
    { label: '$(settings-gear) More settings…', description: changedText(run, facts.defaults), action: 'settings' },
    {
      label: '$(save) Save as preset…',
      description: 'In the settings of the workspace, without the key',
      action: 'save',
    },
    { label: '$(copy) Copy as ray job submit', description: 'For the stock launcher', action: 'shell' },
    { label: '$(copy) Copy as Python', description: 'For the stock launcher', action: 'python' },
  ];
}

type SettingItem = vscode.QuickPickItem & {
  readonly change?: (ask: Asker, run: RunPreset) => Promise<RunPreset>;
};

/** Lets one setting after the other be changed, until the person goes back. */
async function changeSettings(ask: Asker, dependencies: NewRunDependencies, before: RunPreset): Promise<RunPreset> {
  let run = before;
  let last: string | undefined;
  for (;;) {
    const offered = settingItems(dependencies, run);
    const active = offered.find((item) => item.label === last);
    const picked = await ask.aside((aside) =>
      aside.pick<SettingItem>({
        placeholder: 'Which setting. Back, or Escape, returns to the summary',
        items: offered,
        active,
      }),
    );
    if (!picked?.change) {
      return run;
    }
    last = picked.label;
    run = (await ask.aside((aside) => picked.change?.(aside, run) ?? Promise.resolve(run))) ?? run;
  }
}

function settingItems(
  dependencies: NewRunDependencies,
  run: RunPreset,
): (SettingItem | ReturnType<typeof separator>)[] {
  const defaults = settingDefaults();
  const groups = [...new Set(RUN_FIELDS.map(({ group }) => group))];
  return [
    ...groups.flatMap((group) => [
      separator(group),
      ...RUN_FIELDS.filter((field) => field.group === group).map(
        (field): SettingItem => ({
          label: field.label,
          description: `${shownValue(field, run, defaults)}${isChanged(field, run) ? '' : ' (default)'}`,
          ...(field.hint !== undefined && { detail: field.hint }),
          change: (ask, now) => changeField(ask, field, now),
        }),
      ),
    ]),
    separator('Keys and judge'),
    {
      label: 'Key of the model endpoint',
      description: keyText(run.key),
      change: async (ask, now) => ({ ...now, key: presetKeyOf(await askKey(ask, dependencies, now.modelUrl)) }),
    },
    {
      label: 'Judge',
      description: run.judge ? `${run.judge.modelId} at ${run.judge.url}, ${keyText(run.judge.key)}` : 'none',
      change: (ask, now) => changeJudge(ask, dependencies, now),
    },
    {
      label: 'Key for gated datasets',
      description: `${keyText(run.datasetKey)}; handed to those who load the dataset as HF_TOKEN`,
      change: async (ask, now) => ({
        ...now,
        datasetKey: presetKeyOf(await askKey(ask, dependencies, DATASET_HOST, 'HF_TOKEN')),
      }),
    },
  ];
}

async function changeField(ask: Asker, field: RunField, run: RunPreset): Promise<RunPreset> {
  const prompt = [
    field.label,
    ...(field.hint === undefined ? [] : [field.hint]),
    ...(field.empty === undefined ? [] : [`Empty: ${field.empty}`]),
  ].join('. ');
  const text = await ask.input({
    prompt,
    value: proposedText(field, run),
    validate: (typed) => {
      const changed = withField(field, run, typed);
      return typeof changed === 'string' ? changed : undefined;
    },
  });
  const changed = withField(field, run, text);
  return typeof changed === 'string' ? run : changed;
}

async function changeJudge(ask: Asker, dependencies: NewRunDependencies, run: RunPreset): Promise<RunPreset> {
  const items = [
    { label: 'No judge', description: "The benchmark's own scorer gives the score", hasJudge: false },
    { label: 'A judge…', description: 'Another model gives the score', hasJudge: true },
  ];
  const { hasJudge } = await ask.pick({ placeholder: 'Who gives the score', items });
  const judge = hasJudge ? await askJudge(ask, dependencies, run.judge) : null;
  return parsePreset('the judge', { ...run, judge });
}

function ignoreCancel(error: unknown): void {
  if (!(error instanceof vscode.CancellationError)) {
    throw error;
  }
}
