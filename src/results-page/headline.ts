/** The one number that stands for a run, and what it may be called. */
import type { RunSnapshot, ShardSnapshot } from '../protocol/runSnapshot';
import { formatScore } from './format';

/** A score to show large. */
export interface Headline {
  readonly label: string;
  readonly value: number;
  /** Whether it is the evaluator's own number, after the merge. */
  readonly final: boolean;
}

/** The metrics that can be a run's headline, the first one that is there. */
const HEADLINE_METRICS = ['pass@1', 'mean_reward'];

/**
 * The headline of a run: the evaluator's number after the merge, before that the mean reward of the answers so far.
 *
 * @returns undefined when no answer says anything about the model. An answer that failed at the endpoint carries the
 *   reward 0, so a dead endpoint would otherwise read as a score of 0 %.
 */
export function headline(run: RunSnapshot): Headline | undefined {
  if (run.status === 'failed' && run.reason === 'endpoint') {
    return undefined;
  }
  if (meanWithoutErrors(run) === undefined) {
    return undefined;
  }
  for (const metric of HEADLINE_METRICS) {
    const score = run.scores?.[metric];
    if (score !== undefined) {
      return { label: metricLabel(metric), value: score.value, final: true };
    }
  }
  return { label: 'Mean reward so far', value: run.rewardSum / run.answered, final: false };
}

/** The headline's value as text: one digit while it moves, two, as many as the bundle has, when it is final. */
export function headlineText(score: Headline): string {
  return formatScore(score.value, score.final ? 2 : 1);
}

/** What a metric of the bundle is called: "pass@1" stays, "mean_reward" reads "Mean reward". */
export function metricLabel(metric: string): string {
  return metric === 'mean_reward' ? 'Mean reward' : metric;
}

/** The mean reward of the answers that did reach the model; undefined when none did. */
export function meanWithoutErrors(run: RunSnapshot): number | undefined {
  const reached = run.answered - run.endpointErrors;
  return reached > 0 ? run.rewardSum / reached : undefined;
}

/** The running score of one shard; undefined when no answer of it reached the model. */
export function shardScore(shard: ShardSnapshot): number | undefined {
  return shard.done > shard.endpointErrors ? shard.rewardSum / shard.done : undefined;
}
