/** What can be changed of a run before it is submitted, one row each. Pure: how a value is shown, proposed and read. */
import * as v from 'valibot';
import { PRACTICE_MODEL_ID } from '../benchmark/practiceModel';
import { PRACTICE, type RunPreset, runPreset } from '../benchmark/runPreset';

type Kind = 'count' | 'integer' | 'number' | 'text' | 'list' | 'gibibytes';

export interface RunField {
  /** Where it stands in a preset. */
  readonly path: readonly [string] | readonly [string, string];
  readonly group: string;
  readonly label: string;
  readonly kind: Kind;
  /** What an empty answer means; undefined when there must be a value. */
  readonly empty?: string;
  /** More than the label says. */
  readonly hint?: string;
}

/** What the settings give where a preset gives nothing. */
export interface SettingDefaults {
  readonly requestsInFlight: number;
  readonly resultsFolder: string;
}

const GIB = 1024 ** 3;

const QUESTIONS = 'Questions';
const GENERATION = 'Answers';
const ENDPOINT = 'Model endpoint';
const CLUSTER = 'Cluster';
const MONEY = 'Prices and budget';
const RESULTS = 'Results';

/** All of them, in the order in which they are shown. */
export const RUN_FIELDS: readonly RunField[] = [
  { path: ['shards'], group: QUESTIONS, label: 'Shards', kind: 'count' },
  { path: ['repeats'], group: QUESTIONS, label: 'Repeats', kind: 'count' },
  { path: ['maxProblems'], group: QUESTIONS, label: 'Problems at most', kind: 'count', empty: 'all' },
  {
    path: ['shuffleSeed'],
    group: QUESTIONS,
    label: 'Shuffle seed',
    kind: 'integer',
    empty: "the dataset's own order",
    hint: 'The ranges of the shards are positions in the shuffled order. Stock takes 42',
  },
  { path: ['systemPrompt'], group: QUESTIONS, label: 'System prompt', kind: 'text', empty: 'none' },
  {
    path: ['generation', 'temperature'],
    group: GENERATION,
    label: 'Temperature',
    kind: 'number',
    empty: "the endpoint's",
  },
  { path: ['generation', 'topP'], group: GENERATION, label: 'Top p', kind: 'number', empty: "the endpoint's" },
  {
    path: ['generation', 'maxTokens'],
    group: GENERATION,
    label: 'Tokens of an answer at most',
    kind: 'count',
    empty: "the endpoint's",
  },
  { path: ['generation', 'seed'], group: GENERATION, label: 'Generation seed', kind: 'integer', empty: 'none' },
  {
    path: ['generation', 'stop'],
    group: GENERATION,
    label: 'Stop sequences',
    kind: 'list',
    empty: 'none',
    hint: 'Separated by commas, or a list in JSON',
  },
  {
    path: ['generation', 'frequencyPenalty'],
    group: GENERATION,
    label: 'Frequency penalty',
    kind: 'number',
    empty: "the endpoint's",
  },
  {
    path: ['generation', 'presencePenalty'],
    group: GENERATION,
    label: 'Presence penalty',
    kind: 'number',
    empty: "the endpoint's",
  },
  { path: ['modelUrl'], group: ENDPOINT, label: 'Address', kind: 'text' },
  { path: ['modelId'], group: ENDPOINT, label: 'Model id', kind: 'text' },
  {
    path: ['requestsInFlight'],
    group: ENDPOINT,
    label: 'Requests in flight, of all shards together',
    kind: 'count',
    empty: 'the setting',
  },
  {
    path: ['requestsInFlightPerShard'],
    group: ENDPOINT,
    label: 'Requests in flight, of one shard',
    kind: 'count',
    empty: 'no limit of its own',
  },
  { path: ['requestTimeoutS'], group: ENDPOINT, label: 'Time-out of a request, in seconds', kind: 'number' },
  { path: ['attempts'], group: ENDPOINT, label: 'Attempts for a question', kind: 'count' },
  { path: ['cpusPerShard'], group: CLUSTER, label: 'CPUs of a process that asks', kind: 'number' },
  {
    path: ['memoryPerShard'],
    group: CLUSTER,
    label: 'Memory of a process that asks, in GiB',
    kind: 'gibibytes',
    empty: 'not reserved',
  },
  {
    path: ['processesAtMost'],
    group: CLUSTER,
    label: 'Processes at most',
    kind: 'count',
    empty: 'as many as help',
    hint: 'Leaves room on the cluster for others',
  },
  {
    path: ['prices', 'promptTokens'],
    group: MONEY,
    label: 'Price of a million prompt tokens',
    kind: 'number',
    empty: 'not set',
  },
  {
    path: ['prices', 'completionTokens'],
    group: MONEY,
    label: 'Price of a million answer tokens',
    kind: 'number',
    empty: 'not set',
  },
  { path: ['budget', 'answers'], group: MONEY, label: 'Budget: answers', kind: 'count', empty: 'no limit' },
  { path: ['budget', 'tokens'], group: MONEY, label: 'Budget: tokens', kind: 'count', empty: 'no limit' },
  {
    path: ['budget', 'money'],
    group: MONEY,
    label: 'Budget: money',
    kind: 'number',
    empty: 'no limit',
    hint: 'In the currency of the prices. A run that reaches a budget ends as a partial one and can be taken up again',
  },
  {
    path: ['resultsFolder'],
    group: RESULTS,
    label: 'Results folder',
    kind: 'text',
    empty: 'the setting',
    hint: 'An absolute path; each run gets a folder of its own in it',
  },
  {
    path: ['tags'],
    group: RESULTS,
    label: 'Tags',
    kind: 'list',
    empty: 'none',
    hint: 'Separated by commas, or a list in JSON',
  },
];

/** The value as it is shown in a row. */
export function shownValue(field: RunField, run: RunPreset, defaults: SettingDefaults): string {
  const text = proposedText(field, run);
  if (text !== '') {
    return text;
  }
  if (field.empty !== 'the setting') {
    return field.empty ?? '';
  }
  return String(field.path[0] === 'resultsFolder' ? defaults.resultsFolder : defaults.requestsInFlight);
}

/** The value as it is proposed for a change; empty where there is none. */
export function proposedText(field: RunField, run: RunPreset): string {
  const value = valueAt(run, field.path);
  if (value === null || value === undefined) {
    return '';
  }
  switch (field.kind) {
    case 'list':
      return listText(value);
    case 'text':
      // The box for an answer has one line.
      return String(value).replaceAll('\n', '\\n');
    case 'gibibytes':
      return String(Number(value) / GIB);
    default:
      return String(value);
  }
}

/** The run with a field as it was typed, or the sentence that says what is wrong with it. */
export function withField(field: RunField, run: RunPreset, text: string): RunPreset | string {
  const expected = text === '' && field.empty === undefined ? 'A value is needed here' : expectation(field);
  const value = typedValue(field.kind, text);
  if (value === undefined || (text === '' && field.empty === undefined)) {
    return expected;
  }
  const changed = v.safeParse(runPreset, replaced(run, field.path, value));
  return changed.success ? changed.output : expected;
}

/** Whether a field has another value than a new run would have. */
export function isChanged(field: RunField, run: RunPreset): boolean {
  const fresh = v.parse(runPreset, { benchmark: run.benchmark, modelUrl: PRACTICE, modelId: PRACTICE_MODEL_ID });
  return JSON.stringify(valueAt(run, field.path) ?? null) !== JSON.stringify(valueAt(fresh, field.path) ?? null);
}

function valueAt(run: RunPreset, [first, second]: RunField['path']): unknown {
  const outer: unknown = Object.entries(run).find(([name]) => name === first)?.[1];
  if (second === undefined || typeof outer !== 'object' || outer === null) {
    return second === undefined ? outer : null;
  }
  return Object.entries(outer).find(([name]) => name === second)?.[1];
}

function replaced(run: RunPreset, [first, second]: RunField['path'], value: unknown): object {
  if (second === undefined) {
    return { ...run, [first]: value };
  }
  if (first === 'prices') {
    return { ...run, prices: withPrice(run, second, value) };
  }
  const outer: unknown = valueAt(run, [first]);
  return { ...run, [first]: { ...(typeof outer === 'object' ? outer : {}), [second]: value } };
}

/** Prices are set together; the first one that is given stands for both until the other is. */
function withPrice({ prices }: RunPreset, name: string, value: unknown): unknown {
  return value === null ? null : { ...(prices ?? { promptTokens: value, completionTokens: value }), [name]: value };
}

function typedValue(kind: Kind, text: string): unknown {
  if (kind === 'list') {
    return typedList(text);
  }
  if (text === '') {
    return null;
  }
  if (kind === 'text') {
    return text.replaceAll('\\n', '\n');
  }
  // Number() takes more than a person means: 0x10, 1e3, blanks.
  const number = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
  return kind === 'gibibytes' && number !== undefined ? Math.round(number * GIB) : number;
}

/** Plain where commas can separate it, else as JSON: a stop sequence may be a line's end. */
function listText(value: unknown): string {
  const parts: readonly unknown[] = Array.isArray(value) ? value : [];
  const isPlain = parts.every((part) => typeof part === 'string' && part.trim() === part && !/[,\n\t]|^\[/.test(part));
  return isPlain ? parts.join(', ') : JSON.stringify(parts);
}

function typedList(text: string): unknown {
  if (!text.startsWith('[')) {
    return text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function expectation({ kind, path, empty }: RunField): string {
  const orNothing = empty === undefined ? '' : ', or nothing';
  switch (kind) {
    case 'count':
      return `A whole number from 1 on${orNothing}`;
    case 'integer':
      return `A whole number${orNothing}`;
    case 'number':
      return path[1] === 'topP'
        ? `A number from 0 to 1${orNothing}`
        : `A number${path[1]?.endsWith('Penalty') ? '' : ' that is not negative'}${orNothing}`;
    case 'gibibytes':
      return `A number of GiB${orNothing}`;
    case 'list':
      return `Texts that are not empty, separated by commas${orNothing}`;
    default:
      return path[0] === 'modelUrl'
        ? 'An address that starts with http:// or https://, without a name or key in it'
        : 'A text';
  }
}
