/** What a run will ask, take and cost, as far as an earlier run of the same benchmark and model tells. */
import type { Prices } from '../protocol/runRequest';

/** The start of a job on Ray, in ms: what of a run's time does not grow with its answers is at most about this. */
const START_MS = 30_000;

/** What is asked for. */
export interface PlannedRun {
  readonly repeats: number;
  readonly maxProblems: number | null;
  readonly requestsInFlight: number;
  readonly prices: Prices | null;
}

/** A run of the same benchmark and model that has been seen. */
export interface EarlierRun {
  /** Of the whole dataset; null when it asked a part. */
  readonly datasetSize: number | null;
  /** Answers that it asked itself. */
  readonly answered: number;
  readonly tokens: number;
  readonly requestsInFlight: number;
  /** From submit to end, in ms; null when it did not end, or found answers that were there before. */
  readonly tookMs: number | null;
  /** Median of an answer in ms; null when not known. */
  readonly medianLatencyMs: number | null;
}

/** Null is unknown. */
export interface Estimate {
  readonly problems: number | null;
  readonly calls: number | null;
  readonly ms: number | null;
  readonly tokens: number | null;
  /** From, to: a run tells its tokens in all, and those of the prompt and of the answer have prices of their own. */
  readonly cost: readonly [number, number] | null;
}

/** @param earlier the last run that tells something, if any */
export function estimateRun(planned: PlannedRun, earlier: EarlierRun | undefined): Estimate {
  const problems = problemsOf(planned.maxProblems, earlier?.datasetSize ?? null);
  const calls = problems === null ? null : problems * planned.repeats;
  if (calls === null || !earlier || earlier.answered === 0) {
    return { problems, calls, ms: null, tokens: null, cost: null };
  }
  const tokens = earlier.tokens === 0 ? null : Math.round((earlier.tokens / earlier.answered) * calls);
  return { problems, calls, ms: timeOf(calls, planned, earlier), tokens, cost: costOf(tokens, planned.prices) };
}

/** A benchmark may turn out smaller than what is asked for at most; it is never larger. */
function problemsOf(atMost: number | null, datasetSize: number | null): number | null {
  return atMost !== null && datasetSize !== null ? Math.min(atMost, datasetSize) : (atMost ?? datasetSize);
}

function timeOf(calls: number, planned: PlannedRun, earlier: EarlierRun): number | null {
  const { tookMs, medianLatencyMs, answered } = earlier;
  if (tookMs === null) {
    return null;
  }
  const ideal = ((medianLatencyMs ?? 0) * answered) / earlier.requestsInFlight;
  const start = Math.min(START_MS, Math.max(0, tookMs - ideal));
  const asking = tookMs - start;
  return Math.round(start + asking * (calls / answered) * (earlier.requestsInFlight / planned.requestsInFlight));
}

function costOf(tokens: number | null, prices: Prices | null): readonly [number, number] | null {
  if (tokens === null || prices === null) {
    return null;
  }
  const both = [prices.promptTokens, prices.completionTokens].map((price) => (tokens / 1e6) * price);
  return [Math.min(...both), Math.max(...both)];
}
