/**
 * What is to be run. Travels to the driver as `request.json` in the job's package and stays in the run's record.
 * The Python side is `driver/shardboard_driver/request.py`. Holds no secret: a key is named, never carried.
 *
 * What has a default may be missing in a record that an earlier version wrote.
 */
import * as v from 'valibot';

const positive = v.pipe(v.number(), v.integer(), v.minValue(1));
const notNegative = v.pipe(v.number(), v.minValue(0));
const text = v.pipe(v.string(), v.nonEmpty());

/** Where the driver finds a key. */
export const keySource = v.variant('source', [
  v.object({ source: v.literal('none') }),
  /** A file that only the user can read, on the machine of the cluster. It is removed when the job has it. */
  v.object({ source: v.literal('file'), path: v.string() }),
  /** An environment variable that the job has: the cluster's processes had it already, or the job was given it. */
  v.object({ source: v.literal('environment'), name: v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/)) }),
]);
export type KeySource = v.InferOutput<typeof keySource>;

/** How the model is to answer; null leaves it to the endpoint. The stock launcher sends temperature 0 and nothing else. */
export const generation = v.object({
  temperature: v.optional(v.nullable(notNegative), 0),
  topP: v.optional(v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(1))), null),
  maxTokens: v.optional(v.nullable(positive), null),
  seed: v.optional(v.nullable(v.pipe(v.number(), v.integer())), null),
  stop: v.optional(v.array(text), []),
  frequencyPenalty: v.optional(v.nullable(v.number()), null),
  presencePenalty: v.optional(v.nullable(v.number()), null),
});
export type Generation = v.InferOutput<typeof generation>;

/** The model that judges, for benchmarks that leave the score to one. */
export const judge = v.object({ url: v.pipe(v.string(), v.url()), modelId: text, key: keySource });
export type Judge = v.InferOutput<typeof judge>;

/** In the user's currency, for a million tokens. */
export const prices = v.object({ promptTokens: notNegative, completionTokens: notNegative });
export type Prices = v.InferOutput<typeof prices>;

/** Where the run ends as a partial one that can be taken up again; null is no limit. Counted is what this run asks. */
export const budget = v.object({
  answers: v.optional(v.nullable(positive), null),
  tokens: v.optional(v.nullable(positive), null),
  /** In the currency of the prices, without which it cannot be set. */
  money: v.optional(v.nullable(notNegative), null),
});
export type Budget = v.InferOutput<typeof budget>;

export const runRequest = v.object({
  version: v.picklist([1, 2]),
  /**
   * - `ask`: asks what the output folder has no answer to, and merges. A folder with nothing in it is a new run.
   * - `score_again`: scores the answers that are there with the benchmark as it is now. Nothing is asked.
   */
  task: v.optional(v.picklist(['ask', 'score_again']), 'ask'),
  /** The evaluator's name of the benchmark, `file.py:name` relative to the job's working folder, or `gym://host:port`. */
  benchmark: text,
  shards: positive,
  repeats: positive,
  maxProblems: v.optional(v.nullable(positive), null),
  /** `…/v1` or `…/v1/chat/completions`. */
  modelUrl: v.pipe(v.string(), v.url()),
  modelId: text,
  key: keySource,
  systemPrompt: v.optional(v.nullable(text), null),
  generation: v.optional(generation, {}),
  judge: v.optional(v.nullable(judge), null),
  /** The key for gated datasets, `HF_TOKEN` to those who load them. */
  datasetKey: v.optional(keySource, { source: 'none' }),
  /** Seed of the order of the problems; null keeps the dataset's own order. The stock launcher's default is 42. */
  shuffleSeed: v.optional(v.nullable(v.pipe(v.number(), v.integer())), 42),
  /** Requests in flight of all shards together. */
  requestsInFlight: positive,
  /** Requests in flight of one shard; null is no limit but that of all. */
  requestsInFlightPerShard: v.optional(v.nullable(positive), null),
  /** What a process that asks shards takes of the cluster. */
  cpusPerShard: v.optional(v.pipe(v.number(), v.minValue(0)), 1),
  /** In bytes; null takes none of Ray's memory resource. */
  memoryPerShard: v.optional(v.nullable(positive), null),
  /** Processes at once, so that a benchmark leaves room for others; null is as many as help. */
  processesAtMost: v.optional(v.nullable(positive), null),
  /** Of one request, in seconds. */
  requestTimeoutS: v.optional(v.pipe(v.number(), v.minValue(0.001)), 120),
  /** How often a question is tried before its answer is given up as an endpoint error. */
  attempts: v.optional(positive, 12),
  prices: v.optional(v.nullable(prices), null),
  budget: v.optional(budget, {}),
  /**
   * - `folder`: `outputFolder` is an absolute path on the machine that runs the driver.
   * - `session`: it is a name, of a folder below the logs of Ray's session, which the dashboard can hand out.
   */
  outputPlace: v.optional(v.picklist(['folder', 'session']), 'folder'),
  outputFolder: text,
  /** The commit of the folder with the benchmark, and whether it had changes that were not committed; null when not known. */
  gitCommit: v.optional(v.nullable(text), null),
  gitDirty: v.optional(v.nullable(v.boolean()), null),
  tags: v.optional(v.array(text), []),
  /** The suite that the run is a part of, and the run that it is to be compared with. */
  suiteId: v.optional(v.nullable(text), null),
  baselineId: v.optional(v.nullable(text), null),
});
export type RunRequest = v.InferOutput<typeof runRequest>;
