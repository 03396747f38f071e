/**
 * What is to be run. Travels to the driver as `request.json` in the job's package and stays in the run's record.
 * The Python side is `driver/shardboard_driver/request.py`. Holds no secret: a key is named, never carried.
 */
import * as v from 'valibot';

const positive = v.pipe(v.number(), v.integer(), v.minValue(1));

/** Where the driver finds the model's key. */
export const keySource = v.variant('source', [
  v.object({ source: v.literal('none') }),
  /** A file that only the user can read, on the machine of the cluster. */
  v.object({ source: v.literal('file'), path: v.string() }),
  /** An environment variable that the cluster's processes already have. */
  v.object({ source: v.literal('environment'), name: v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/)) }),
]);
export type KeySource = v.InferOutput<typeof keySource>;

export const runRequest = v.object({
  version: v.literal(1),
  /** The evaluator's name of the benchmark, or `file.py:name` relative to the job's working folder. */
  benchmark: v.pipe(v.string(), v.nonEmpty()),
  shards: positive,
  repeats: positive,
  maxProblems: v.nullable(positive),
  /** `…/v1` or `…/v1/chat/completions`. */
  modelUrl: v.pipe(v.string(), v.url()),
  modelId: v.pipe(v.string(), v.nonEmpty()),
  key: keySource,
  /** Seed of the order of the problems; null keeps the dataset's own order. The stock launcher's default is 42. */
  shuffleSeed: v.nullable(v.pipe(v.number(), v.integer())),
  /** Requests in flight of one shard. */
  requestsInFlight: positive,
  /** Absolute, on the machine that runs the driver. */
  outputFolder: v.pipe(v.string(), v.nonEmpty()),
});
export type RunRequest = v.InferOutput<typeof runRequest>;
