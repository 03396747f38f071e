/**
 * All that a person can choose of a run, as it is kept: in the setting `shardboard.presets`, in tasks.json, and as what the
 * form's last step shows. Holds no secret: a key is named by where it comes from.
 *
 * The names are those of the request (`protocol/runRequest.ts`), of which most of it is made.
 */
import { dirname, relative } from 'node:path';
import * as v from 'valibot';
import { UserError } from '../common/userError';
import { budget, generation, type KeySource, prices, type RunRequest, runRequest } from '../protocol/runRequest';
import type { OwnBenchmark } from './jobPackage';
import { PRACTICE_MODEL_ID } from './practiceModel';
import type { NewRunKey } from './runs';

/** In place of an address: the practice model's port is another one each time it starts. */
export const PRACTICE = 'practice';

const text = v.pipe(v.string(), v.trim(), v.nonEmpty());
const webAddress = v.pipe(
  v.string(),
  v.trim(),
  v.check(isWebAddress, 'An address that starts with http:// or https://'),
);

/** Where a key comes from when the run is submitted. */
export const presetKey = v.variant('source', [
  v.strictObject({ source: v.literal('none') }),
  /** VS Code's secret storage, where it is kept for the endpoint's host. */
  v.strictObject({ source: v.literal('stored') }),
  /** An environment variable that the cluster was started with. */
  v.strictObject({ source: v.literal('environment'), name: v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/)) }),
]);
export type PresetKey = v.InferOutput<typeof presetKey>;

const { entries } = runRequest;

export const runPreset = v.strictObject({
  /** The evaluator's own name, a URI, or `file.py:name` with the file absolute or relative to the workspace folder. */
  benchmark: text,
  shards: v.optional(entries.shards, 8),
  repeats: v.optional(entries.repeats, 1),
  maxProblems: entries.maxProblems,
  /** Or `practice`. */
  modelUrl: v.union([v.literal(PRACTICE), webAddress], 'An address that starts with http:// or https://'),
  modelId: text,
  key: v.optional(presetKey, { source: 'none' }),
  systemPrompt: entries.systemPrompt,
  generation: v.optional(v.strictObject(generation.entries), {}),
  judge: v.optional(v.nullable(v.strictObject({ url: webAddress, modelId: text, key: presetKey })), null),
  datasetKey: v.optional(presetKey, { source: 'none' }),
  shuffleSeed: entries.shuffleSeed,
  /** Null takes the setting `shardboard.requestsInFlight`. */
  requestsInFlight: v.optional(v.nullable(entries.requestsInFlight), null),
  requestsInFlightPerShard: entries.requestsInFlightPerShard,
  cpusPerShard: entries.cpusPerShard,
  memoryPerShard: entries.memoryPerShard,
  processesAtMost: entries.processesAtMost,
  requestTimeoutS: entries.requestTimeoutS,
  attempts: entries.attempts,
  prices: v.optional(v.nullable(v.strictObject(prices.entries)), null),
  budget: v.optional(v.strictObject(budget.entries), {}),
  /** Folder in which the run gets one of its own; null takes the setting `shardboard.resultsFolder`. */
  resultsFolder: v.optional(v.nullable(text), null),
  tags: entries.tags,
});
export type RunPreset = v.InferOutput<typeof runPreset>;

/** A preset as it is written down: what has its default may be left out. */
export type WrittenPreset = v.InferInput<typeof runPreset>;

/** Whether a text is the address of an endpoint. One with a name or a password in it would put a secret into results. */
export function isWebAddress(address: string): boolean {
  if (!URL.canParse(address)) {
    return false;
  }
  const { protocol, hostname, username, password } = new URL(address);
  return /^https?:$/.test(protocol) && hostname !== '' && username === '' && password === '';
}

/**
 * Reads a preset that a person wrote.
 *
 * @param name as it is called in messages, for example `the preset "nightly"`
 * @throws UserError that names each field that does not fit.
 */
export function parsePreset(name: string, written: unknown): RunPreset {
  const parsed = v.safeParse(runPreset, written);
  if (parsed.success) {
    return parsed.output;
  }
  const faults = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'it'}: ${issue.message}`);
  throw new UserError(`Correct ${name}. ${faults.join('. ')}.`);
}

/** What is to be written down of a preset: what differs from the defaults, so that a person sees what was chosen. */
export function writtenPreset(preset: RunPreset): WrittenPreset {
  const { benchmark, modelUrl, modelId, shards, repeats, ...rest } = preset;
  const named = { benchmark, shards, repeats, modelUrl, modelId };
  return { ...named, ...withoutDefaults(rest, v.parse(runPreset, named)) };
}

function withoutDefaults<T extends object>(values: T, defaults: object): Partial<T> {
  const kept: [string, unknown][] = [];
  const before = new Map<string, unknown>(Object.entries(defaults));
  for (const [name, value] of Object.entries(values)) {
    const other = before.get(name);
    if (isPlainObject(value) && isPlainObject(other) && name !== 'key' && name !== 'datasetKey') {
      const inner = withoutDefaults(value, other);
      if (Object.keys(inner).length > 0) {
        kept.push([name, inner]);
      }
    } else if (JSON.stringify(value) !== JSON.stringify(other)) {
      kept.push([name, value]);
    }
  }
  return Object.fromEntries(kept) as Partial<T>;
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The user's own benchmark that a preset names; undefined when it is one of the evaluator's or a URI. */
export function ownBenchmarkOf(benchmark: string, resolve: (path: string) => string): OwnBenchmark | undefined {
  const match = /^(.+\.py):([^:/\\]+)$/.exec(benchmark);
  return match?.[1] === undefined || match[2] === undefined || benchmark.includes('://')
    ? undefined
    : { file: resolve(match[1]), name: match[2] };
}

/** How a preset names a benchmark of the user's own: by a path that others who share the workspace have too. */
export function benchmarkText(benchmark: string | OwnBenchmark, workspaceFolder: string | undefined): string {
  if (typeof benchmark === 'string') {
    return benchmark;
  }
  const below = workspaceFolder === undefined ? undefined : relative(workspaceFolder, benchmark.file);
  const file = below === undefined || below.startsWith('..') ? benchmark.file : below;
  return `${file}:${benchmark.name}`;
}

/** What a run that was submitted would be as a preset. Its keys' files went with it; VS Code may still have the keys. */
export function presetOf(
  request: RunRequest,
  benchmark: string | OwnBenchmark,
  workspaceFolder: string | undefined,
): RunPreset {
  const { version, task, outputPlace, outputFolder, gitCommit, gitDirty, suiteId, baselineId, ...chosen } = request;
  return {
    ...chosen,
    benchmark: benchmarkText(benchmark, workspaceFolder),
    modelUrl: isPractice(request) ? PRACTICE : request.modelUrl,
    key: presetKeyOf(request.key),
    judge: request.judge && { ...request.judge, key: presetKeyOf(request.judge.key) },
    datasetKey: presetKeyOf(request.datasetKey),
    // In Ray's session there is no folder that could be chosen.
    resultsFolder: outputPlace === 'session' ? null : dirname(outputFolder),
  };
}

/** Its port is another one each time, so its address does not tell. */
function isPractice({ modelId, modelUrl }: RunRequest): boolean {
  return modelId === PRACTICE_MODEL_ID && new URL(modelUrl).hostname === '127.0.0.1';
}

/** Where a key that was handed over came from. */
export function presetKeyOf(key: KeySource | NewRunKey): PresetKey {
  return key.source === 'file' || key.source === 'value' ? { source: 'stored' } : key;
}
