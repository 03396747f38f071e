/** What weakens a score, in sentences. */
import type { RunSnapshot, ShardSnapshot } from '../protocol/runSnapshot';
import { goesOn, hasEnded } from '../protocol/runSnapshot';
import { countOf, formatAgo, formatList, formatScore } from './format';
import { headline, meanWithoutErrors } from './headline';
import { failedShards, shardNumber, type Tone } from './words';

/** Longer than a slow answer takes, in ms. */
const SILENCE_MS = 60_000;

/** One thing to know before believing a score. */
export interface TrustNote {
  readonly tone: Tone;
  readonly text: string;
}

/**
 * Everything that the snapshot knows to weaken the score of a run, the worst first.
 *
 * @param now milliseconds since 1970, for "3 min ago".
 * @returns nothing only when the run is complete and nothing weakens it.
 */
export function trustNotes(run: RunSnapshot, now: number): TrustNote[] {
  const notes = [
    ...howItEnded(run, now),
    ...endpointErrors(run),
    ...lostToFailedShards(run),
    ...stillMissing(run, now),
    ...oddAnswers(run),
  ];
  // A partial run says why, even where the numbers do not.
  return notes.length === 0 && run.status === 'partial'
    ? [{ tone: 'warning', text: run.message ?? 'Parts of the run are missing.' }]
    : notes;
}

/** The title of the place where the notes stand. */
export function trustTitle(run: RunSnapshot): string {
  return hasEnded(run.status) && headline(run)?.final !== true ? 'Why there is no final score' : 'Before you trust it';
}

function howItEnded(run: RunSnapshot, now: number): TrustNote[] {
  switch (run.status) {
    case 'failed':
      return [{ tone: 'bad', text: run.message ?? 'The run failed. The log says more.' }];
    case 'stopped':
      return [{ tone: 'quiet', text: run.message ?? 'The run was stopped. The answers on disk are kept.' }];
    case 'lost': {
      const since =
        run.lastHeardAt === null ? '' : ` since ${clock(run.lastHeardAt)}, ${formatAgo(now - run.lastHeardAt)}`;
      return [
        { tone: 'warning', text: `The cluster has not been heard${since}.` },
        { tone: 'quiet', text: run.message ?? 'The answers on disk are kept.' },
      ];
    }
    default:
      return [];
  }
}

function endpointErrors(run: RunSnapshot): TrustNote[] {
  const errors = run.endpointErrors;
  if (errors === 0) {
    return [];
  }
  const without = meanWithoutErrors(run);
  if (without === undefined) {
    const which = errors === 1 ? 'The only answer' : `All ${countOf(errors, 'answer')}`;
    return [{ tone: 'bad', text: `${which} failed at the endpoint, so nothing is known about the model.` }];
  }
  const [failed, them] =
    errors === 1 ? ['failed at the endpoint and counts', 'it'] : ['failed at the endpoint and count', 'them'];
  return [
    {
      tone: 'warning',
      text: `${countOf(errors, 'answer')} ${failed} as 0. Without ${them} the mean reward is ${formatScore(without, 1)}.`,
    },
  ];
}

function lostToFailedShards(run: RunSnapshot): TrustNote[] {
  const failed = failedShards(run);
  // A failed run has no score that they could weaken.
  if (failed.length === 0 || run.status === 'failed') {
    return [];
  }
  const which = `${failed.length === 1 ? 'Shard' : 'Shards'} ${formatList(failed.map(shardNumber))} failed`;
  const missing = missingIn(failed);
  return [{ tone: 'warning', text: missing === 0 ? `${which}.` : `${which}; ${answersAre(missing)} missing.` }];
}

/** The answers of shards that did not fail: still to come while the run is going, missing when it has ended. */
function stillMissing(run: RunSnapshot, now: number): TrustNote[] {
  const going = goesOn(run.status);
  if (run.answered === 0) {
    const text = run.origin === 'stock' ? 'The stock launcher tells no answer before its end.' : 'No answer yet.';
    return going ? [{ tone: 'quiet', text }] : [];
  }
  const missing = run.expected - run.answered - missingIn(failedShards(run));
  if (!going) {
    return missing > 0 && run.status !== 'failed' ? [{ tone: 'warning', text: `${answersAre(missing)} missing.` }] : [];
  }
  return missing > 0
    ? [
        ...silence(run, now),
        {
          tone: 'quiet',
          text: `Partial: ${countOf(missing, 'answer')} still to come. Early answers are not a fair sample, because quick and short ones finish first.`,
        },
      ]
    : [{ tone: 'quiet', text: "Not merged yet: the score is ours until the evaluator's own arrives." }];
}

/** A run whose endpoint takes questions and never answers looks healthy for minutes: the evaluator waits two for each. */
function silence(run: RunSnapshot, now: number): TrustNote[] {
  const since = run.lastAnswerAt === null ? 0 : now - run.lastAnswerAt;
  return since > SILENCE_MS
    ? [{ tone: 'warning', text: `The last answer came ${formatAgo(since)}. The endpoint may hang or be overloaded.` }]
    : [];
}

function missingIn(shards: readonly ShardSnapshot[]): number {
  return shards.reduce((sum, shard) => sum + shard.total - shard.done, 0);
}

function answersAre(count: number): string {
  return `${countOf(count, 'answer')} ${count === 1 ? 'is' : 'are'}`;
}

function oddAnswers(run: RunSnapshot): TrustNote[] {
  const were = (count: number): string => `${countOf(count, 'answer')} ${count === 1 ? 'was' : 'were'}`;
  const odd: [number, string][] = [
    [run.truncated, 'cut off at the length limit and scored all the same'],
    [run.empty, 'empty'],
  ];
  return odd
    .filter(([count]) => count > 0)
    .map(([count, what]) => ({ tone: 'warning', text: `${were(count)} ${what}.` }));
}

/** A point in time with its date: the reader may come back tomorrow. */
function clock(at: number): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}
