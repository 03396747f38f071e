/** A run as it is drawn: by the page, the trees and the status bar. Made from the folded state, small whatever the number of answers. */
import * as v from 'valibot';
import { category, driverStage, failureReason, score } from './driverEvents';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/**
 * - `submitting`, `pending`, `running`: not ended.
 * - `complete`: every answer is there and none failed at the endpoint.
 * - `partial`: there is a score, and something weakens it: shards are missing or answers failed at the endpoint.
 * - `failed`, `stopped`: no final score.
 * - `lost`: the cluster that ran it is gone; what was heard before is kept.
 */
export const runStatus = v.picklist([
  'submitting',
  'pending',
  'running',
  'complete',
  'partial',
  'failed',
  'stopped',
  'lost',
]);
export type RunStatus = v.InferOutput<typeof runStatus>;

/**
 * Where a run was submitted: in this window; in another window of Shardboard, perhaps a colleague's; or from wherever, with
 * the evaluator's own launcher.
 */
export const runOrigin = v.picklist(['here', 'window', 'stock']);
export type RunOrigin = v.InferOutput<typeof runOrigin>;

export const shardPhase = v.picklist(['waiting', 'running', 'done', 'failed']);
export type ShardPhase = v.InferOutput<typeof shardPhase>;

export const shardSnapshot = v.object({
  index: count,
  /** Positions in the order of the run: from, inclusive, to, exclusive. */
  start: count,
  end: count,
  /** Answers expected: positions times repeats. */
  total: count,
  done: count,
  /** Sum of the rewards of the answers that are there; the running score is this over `done`. */
  rewardSum: v.number(),
  endpointErrors: count,
  /** Median latency of the answers in ms, null before the first. */
  medianLatencyMs: v.nullable(v.number()),
  phase: shardPhase,
  /** 0 for the first try. */
  attempt: count,
  message: v.nullable(v.string()),
});
export type ShardSnapshot = v.InferOutput<typeof shardSnapshot>;

export const runSnapshot = v.object({
  id: v.string(),
  benchmark: v.string(),
  modelId: v.string(),
  clusterName: v.string(),
  status: runStatus,
  stage: v.nullable(driverStage),
  /** What happened, in a sentence, when there is something to say. */
  message: v.nullable(v.string()),
  reason: v.nullable(failureReason),
  /** Milliseconds since 1970. */
  submittedAt: v.number(),
  endedAt: v.nullable(v.number()),
  /** When the cluster last answered; null when it is answering now. */
  lastHeardAt: v.nullable(v.number()),
  /** When the last answer came, by the clock of the machine that ran the shard; null before the first. */
  lastAnswerAt: v.nullable(v.number()),
  repeats: count,
  problems: count,
  answered: count,
  expected: count,
  rewardSum: v.number(),
  tokens: count,
  endpointErrors: count,
  truncated: count,
  empty: count,
  shards: v.array(shardSnapshot),
  /** The evaluator's own numbers, when the run is merged. */
  scores: v.nullable(v.record(v.string(), score)),
  categories: v.nullable(v.record(v.string(), category)),
  bundlePath: v.nullable(v.string()),
  outputFolder: v.string(),
  origin: v.optional(runOrigin, 'here'),
  /** The name of the user who submitted it, as their window told Ray; null when nobody told. */
  submittedBy: v.optional(v.nullable(v.string()), null),
  /** Of a run of the stock launcher, which does not tell which shard is which. */
  shardCounts: v.optional(
    v.nullable(v.object({ waiting: count, running: count, finished: count, failed: count })),
    null,
  ),
});
export type RunSnapshot = v.InferOutput<typeof runSnapshot>;

/** Whether nothing more will come. `lost` may come back, so it has not ended. */
export function hasEnded(status: RunStatus): boolean {
  return status === 'complete' || status === 'partial' || status === 'failed' || status === 'stopped';
}

/** Whether more is being heard of it, or expected any moment: it has neither ended nor lost its cluster. */
export function goesOn(status: RunStatus): boolean {
  return !hasEnded(status) && status !== 'lost';
}
