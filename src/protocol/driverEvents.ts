/**
 * What the driver tells the extension: one JSON object a line in the Ray job's log, behind a marker.
 * The Python side is `driver/shardboard_driver/events.py`; a change here is a change there, and a new version number.
 *
 * Only the driver itself writes them, in an order that can be folded; after a gap they are read from the start again, so
 * every event can be applied twice without counting anything twice.
 */
import * as v from 'valibot';

/** Stands before the JSON on a line. */
export const EVENT_MARKER = '@shardboard ';
export const EVENT_VERSION = 2;

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** How one answer ended. Everything but `ok` weakens the score, though the evaluator counts it as a plain 0 or as scored. */
export const answerOutcome = v.picklist(['ok', 'endpoint_error', 'truncated', 'empty', 'judge_error']);
export type AnswerOutcome = v.InferOutput<typeof answerOutcome>;

/**
 * One answer, as a tuple because there may be 100,000 of them:
 * position in the order of the run, problem index in the dataset, repeat, reward, latency in ms, tokens, outcome.
 */
export const compactAnswer = v.tuple([count, count, count, v.number(), v.number(), count, answerOutcome]);
export type CompactAnswer = v.InferOutput<typeof compactAnswer>;

const base = {
  v: v.literal(EVENT_VERSION),
  /** Seconds since 1970 on the machine that wrote the line. */
  t: v.number(),
};

/** What the driver is doing before the first question and after the last. */
export const driverStage = v.picklist(['connecting', 'loading_benchmark', 'checking_endpoint', 'asking', 'merging']);
export type DriverStage = v.InferOutput<typeof driverStage>;

/**
 * Which part of the world was at fault when a run did not end well; `evaluator` is an environment that is right but for the
 * evaluator, which Ray can install for one job.
 */
export const failureReason = v.picklist([
  'request',
  'environment',
  'evaluator',
  'benchmark',
  'endpoint',
  'shards',
  'disk',
  'budget',
  'internal',
]);
export type FailureReason = v.InferOutput<typeof failureReason>;

/** A score as the evaluator writes it. `ci_*` is re-run noise on these problems, `bootstrap_ci_*` the sampling of problems. */
export const score = v.looseObject({
  value: v.number(),
  ci_lower: v.optional(v.number()),
  ci_upper: v.optional(v.number()),
  bootstrap_ci_lower: v.optional(v.number()),
  bootstrap_ci_upper: v.optional(v.number()),
});
export type Score = v.InferOutput<typeof score>;

export const category = v.object({ mean_reward: v.number(), n: count });

/** A file of the results: its path below the output folder, its size in bytes, and how to know that it came whole. */
export const resultFile = v.object({
  // No way out of the folder that it is put into.
  name: v.pipe(v.string(), v.regex(/^(?!\.)[\w.-]+(\/(?!\.)[\w.-]+)*$/)),
  size: count,
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
});
export type ResultFile = v.InferOutput<typeof resultFile>;

export const driverEvent = v.variant('type', [
  v.object({ ...base, type: v.literal('stage'), stage: driverStage }),
  v.object({
    ...base,
    type: v.literal('start'),
    benchmark: v.string(),
    problems: count,
    repeats: count,
    /** Contiguous ranges of positions, one a shard: from, inclusive, to, exclusive. */
    ranges: v.array(v.tuple([count, count])),
    /** Absolute path of the output folder on the machine that runs the driver. */
    folder: v.string(),
    evaluator: v.string(),
    ray: v.string(),
    python: v.string(),
  }),
  v.object({
    ...base,
    type: v.literal('shard'),
    shard: count,
    attempt: count,
    state: v.picklist(['queued', 'running', 'failed']),
    /** Why it failed, in one sentence. */
    message: v.optional(v.string()),
    /** The machine that asks it. */
    node: v.optional(v.string()),
  }),
  /** What came since the last batch of this shard. */
  v.object({ ...base, type: v.literal('answers'), shard: count, attempt: count, answers: v.array(compactAnswer) }),
  /** Every answer of the shard has been told. */
  v.object({ ...base, type: v.literal('shard_done'), shard: count, attempt: count, seconds: v.number() }),
  v.object({
    ...base,
    type: v.literal('merged'),
    complete: v.boolean(),
    /** `pass@1`, `pass@N` or `mean_reward`. */
    scores: v.record(v.string(), score),
    categories: v.record(v.string(), category),
    /** Absolute path, on the machine that ran the driver, of the `eval-*.json`. */
    bundle: v.string(),
  }),
  /** What can be fetched from below the logs of a node, when the results do not stay where they were written. */
  v.object({
    ...base,
    type: v.literal('files'),
    /** Ray's id of the node. */
    node: v.string(),
    /** Below its logs. */
    folder: v.string(),
    files: v.array(resultFile),
  }),
  v.object({
    ...base,
    type: v.literal('end'),
    outcome: v.picklist(['complete', 'partial', 'failed', 'stopped']),
    reason: v.optional(failureReason),
    /** What happened and what to do, in a sentence or two. */
    message: v.string(),
    answered: count,
    expected: count,
    endpointErrors: count,
    judgeErrors: count,
    truncated: count,
    empty: count,
    missingShards: v.array(count),
  }),
]);
export type DriverEvent = v.InferOutput<typeof driverEvent>;

/**
 * Reads one line of the job's log.
 *
 * @returns the event; `undefined` for a line that is not an event; an Error for one that carries the marker and cannot be read.
 */
export function parseDriverLine(line: string): DriverEvent | Error | undefined {
  const at = line.indexOf(EVENT_MARKER);
  if (at < 0) {
    return undefined;
  }
  let raw: unknown;
  try {
    raw = JSON.parse(line.slice(at + EVENT_MARKER.length));
  } catch {
    return new Error(`A progress line of the run is not JSON: ${line.slice(0, 200)}`);
  }
  const parsed = v.safeParse(driverEvent, raw);
  if (parsed.success) {
    return parsed.output;
  }
  return new Error(`A progress line of the run has an unknown shape: ${v.summarize(parsed.issues)}`);
}
