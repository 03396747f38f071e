/** What a run will be, in lines of words: the last look before it is sent. Pure. */
import { basename } from 'node:path';
import type { Estimate } from '../benchmark/estimate';
import type { PackageFiles } from '../benchmark/packageFiles';
import { PRACTICE, type PresetKey, type RunPreset } from '../benchmark/runPreset';
import { formatBytes } from '../common/formatBytes';
import { countOf, formatCount, formatSpan } from '../results-page/format';
import { isChanged, RUN_FIELDS, type SettingDefaults, shownValue } from './runFields';

/** What is known of a run that is about to be sent. */
export interface SummaryFacts {
  readonly clusterName: string;
  readonly estimate: Estimate;
  /** Undefined when nothing of the user's travels along. */
  readonly packed: PackageFiles | undefined;
  readonly defaults: SettingDefaults;
  readonly resultsFolder: string;
}

export interface SummaryRow {
  readonly label: string;
  readonly description: string;
  /** A second line: a description that is too long is cut off. */
  readonly detail?: string;
}

/** So many of what is left out are named. */
const NAMED = 4;

/** The lines, the cluster first: where it goes is what must not be wrong. */
export function summaryRows(run: RunPreset, facts: SummaryFacts): readonly SummaryRow[] {
  return [
    { label: 'Cluster', description: facts.clusterName },
    { label: 'Benchmark', description: run.benchmark },
    { label: 'Questions', description: questionsText(run, facts.estimate) },
    { label: 'Estimate', description: estimateText(run, facts.estimate) },
    { label: 'Model', description: modelText(run.modelId, run.modelUrl, run.key) },
    ...(run.judge ? [{ label: 'Judge', description: modelText(run.judge.modelId, run.judge.url, run.judge.key) }] : []),
    { label: 'Package', ...packageText(facts.packed) },
    { label: 'Results', description: facts.resultsFolder },
  ];
}

/** What differs from a new run's defaults, beside what the quick questions ask for. */
export function changedText(run: RunPreset, defaults: SettingDefaults): string {
  const asked = new Set(['shards', 'repeats', 'modelUrl', 'modelId']);
  const changed = RUN_FIELDS.filter((field) => !asked.has(field.path[0]) && isChanged(field, run));
  return changed.length === 0
    ? 'All have their defaults'
    : changed.map((field) => `${field.label}: ${shownValue(field, run, defaults)}`).join(', ');
}

function questionsText({ repeats, shards, maxProblems }: RunPreset, { problems, calls }: Estimate): string {
  const counted =
    problems === null || calls === null
      ? `all problems (how many is not known yet), ${countOf(repeats, 'repeat')}`
      : `${countOf(problems, 'problem')}${maxProblems === null ? '' : ' at most'}, ${countOf(repeats, 'repeat')}: ${countOf(calls, 'call')}`;
  return `${counted}, in ${countOf(shards, 'shard')}`;
}

function estimateText({ prices }: RunPreset, { ms, tokens, cost }: Estimate): string {
  const parts = [
    ...(ms === null ? [] : [`about ${formatSpan(ms)}`]),
    ...(tokens === null ? [] : [`${countOf(tokens, 'token')}`]),
    ...(cost === null ? [] : [`cost ${costText(cost)}`]),
  ];
  if (parts.length === 0) {
    return 'not known before the first run with this model';
  }
  return `${parts.join(', ')}, judging by the last run${prices === null ? '. No price is set' : ''}`;
}

function costText([from, to]: readonly [number, number]): string {
  return from.toFixed(2) === to.toFixed(2) ? to.toFixed(2) : `between ${from.toFixed(2)} and ${to.toFixed(2)}`;
}

function modelText(modelId: string, url: string, key: PresetKey): string {
  const where = url === PRACTICE ? 'the practice model on this machine' : url;
  return `${modelId} at ${where}, ${keyText(key)}`;
}

/** Where a key comes from. */
export function keyText(key: PresetKey): string {
  switch (key.source) {
    case 'none':
      return 'no key';
    case 'stored':
      return 'key kept by VS Code';
    case 'environment':
      return `key in ${key.name} on the cluster`;
  }
}

function packageText(packed: PackageFiles | undefined): Omit<SummaryRow, 'label'> {
  if (!packed) {
    return { description: 'nothing of yours: the cluster has the benchmark' };
  }
  const largest = packed.largest.map(({ name, bytes }) => `${name} (${formatBytes(bytes)})`).join(', ');
  const named = packed.leftOut.slice(0, NAMED).join(', ');
  const more = packed.leftOut.length - NAMED;
  const leftOut =
    packed.leftOut.length === 0 ? 'nothing' : `${named}${more > 0 ? ` and ${formatCount(more)} more` : ''}`;
  return {
    description: `${formatBytes(packed.bytes)} from the folder ${basename(packed.folder)}`,
    detail: `Left out: ${leftOut}. Largest: ${largest}`,
  };
}
