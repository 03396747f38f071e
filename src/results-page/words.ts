/** A run's state in words. Pure, so that every view of a run can say the same. */
import type { DriverStage, FailureReason } from '../protocol/driverEvents';
import type { RunSnapshot, RunStatus, ShardSnapshot } from '../protocol/runSnapshot';
import { hasEnded } from '../protocol/runSnapshot';
import { countOf, formatCount, formatList } from './format';
import { headline, headlineText } from './headline';

const stageWords: Record<DriverStage, string> = {
  connecting: 'Connecting to Ray',
  loading_benchmark: 'Loading the benchmark',
  checking_endpoint: 'Checking the endpoint',
  asking: 'Waiting for the first answer',
  merging: 'Merging the shards',
};

const failureWords: Record<FailureReason, string> = {
  request: 'Request refused',
  environment: 'Python environment failed',
  evaluator: 'Evaluator missing',
  benchmark: 'Benchmark failed',
  endpoint: 'Endpoint failed',
  shards: 'Shards failed',
  disk: 'Writing the results failed',
  budget: 'Budget used up',
  internal: 'Failed',
};

/** What colour and which codicon go with the words. */
export type Tone = 'quiet' | 'active' | 'good' | 'warning' | 'bad';

const statusLooks: Record<RunStatus, { icon: string; tone: Tone }> = {
  submitting: { icon: 'loading codicon-modifier-spin', tone: 'active' },
  pending: { icon: 'loading codicon-modifier-spin', tone: 'active' },
  running: { icon: 'loading codicon-modifier-spin', tone: 'active' },
  complete: { icon: 'pass-filled', tone: 'good' },
  partial: { icon: 'warning', tone: 'warning' },
  failed: { icon: 'error', tone: 'bad' },
  stopped: { icon: 'circle-slash', tone: 'quiet' },
  lost: { icon: 'debug-disconnect', tone: 'warning' },
};

/** The codicon and the tone of a run's status. */
export function statusLook(status: RunStatus): { icon: string; tone: Tone } {
  return statusLooks[status];
}

/** A run's status without numbers: "Checking the endpoint", "Running", "Endpoint failed". */
export function statusWords(run: RunSnapshot): string {
  switch (run.status) {
    case 'submitting':
      return 'Submitting';
    case 'pending':
      return 'Waiting for Ray to start the run';
    case 'running':
      if (run.origin === 'stock') {
        return 'Running';
      }
      if (run.stage === null) {
        return run.answered > 0 ? 'Running' : 'Starting the driver';
      }
      return run.stage === 'asking' && run.answered > 0 ? 'Running' : stageWords[run.stage];
    case 'complete':
      return 'Complete';
    case 'partial':
      return run.origin === 'stock' && run.scores === null ? 'Ended, result not known' : 'Partial';
    case 'failed':
      return run.reason === null ? 'Failed' : failureWords[run.reason];
    case 'stopped':
      return 'Cancelled';
    case 'lost':
      return 'Cluster lost';
  }
}

/** Whose run it is: "Submitted by ada in another Shardboard window". */
export function originWords(run: RunSnapshot): string {
  switch (run.origin) {
    case 'here':
      return 'Submitted in this window';
    case 'window':
      return `Submitted ${run.submittedBy === null ? '' : `by ${run.submittedBy} `}in another Shardboard window`;
    case 'stock':
      return 'Submitted elsewhere with the stock launcher; Ray does not tell by whom';
  }
}

/** How far the shards are of a run whose launcher tells no more: "3 of 8 finished, 2 running, 3 waiting". */
export function shardCountWords(run: RunSnapshot): string | undefined {
  const counts = run.shardCounts;
  if (counts === null) {
    return undefined;
  }
  const { waiting, running, finished, failed } = counts;
  const rest: [number, string][] = [
    [running, hasEnded(run.status) ? 'not finished' : 'running'],
    [waiting, hasEnded(run.status) ? 'not started' : 'waiting'],
    [failed, 'failed'],
  ];
  return [
    `${finished} of ${waiting + running + finished + failed} finished`,
    ...rest.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`),
  ].join(', ');
}

/** A run's status with how far it is: "Running, 1,610 of 2,638 answers". */
export function statusSentence(run: RunSnapshot): string {
  const words = statusWords(run);
  const progress = `${formatCount(run.answered)} of ${countOf(run.expected, 'answer')}`;
  if (run.status === 'complete' && run.answered === run.expected) {
    return `${words}, ${countOf(run.answered, 'answer')}`;
  }
  if (run.answered === 0) {
    const shards = run.status === 'running' ? shardCountWords(run) : undefined;
    if (shards !== undefined) {
      return `${words}, shards: ${shards}`;
    }
    return run.status === 'stopped' ? `${words} before the first answer` : words;
  }
  switch (run.status) {
    case 'failed':
    case 'stopped':
    case 'lost':
      return `${words} after ${progress}`;
    default:
      return `${words}, ${progress}`;
  }
}

/** What a screen reader hears: changes when the state changes, not with every answer. */
export function announcement(run: RunSnapshot): string {
  const failed = failedShards(run).map(shardNumber);
  const score = headline(run);
  return [
    statusWords(run),
    ...(failed.length === 0 ? [] : [`${failed.length === 1 ? 'Shard' : 'Shards'} ${formatList(failed)} failed`]),
    ...(score?.final === true ? [`${score.label} ${headlineText(score)}`] : []),
  ].join('. ');
}

/** How a shard is called: counted from 1, as in the names of its Ray tasks ("shard 3/8"). */
export function shardNumber(shard: ShardSnapshot): number {
  return shard.index + 1;
}

/** The shards that failed. None in a cancelled run: there the unfinished ones were only not let finish. */
export function failedShards(run: RunSnapshot): ShardSnapshot[] {
  return run.status === 'stopped' ? [] : run.shards.filter((shard) => shard.phase === 'failed');
}

/** "second try" for attempt 1; nothing for the first. */
function tryWords(attempt: number): string | undefined {
  return [undefined, 'second try', 'third try'][attempt] ?? (attempt > 0 ? `try ${attempt + 1}` : undefined);
}

/** A shard's state in words: "Waiting for a worker", "Running, second try", "Failed: …". */
export function shardWords(shard: ShardSnapshot, status: RunStatus): string {
  if (shard.phase === 'failed') {
    if (status === 'stopped') {
      return shard.message ?? 'Not finished';
    }
    return shard.message === null ? 'Failed' : `Failed: ${shard.message}`;
  }
  return [shardPhaseWords(shard, status), tryWords(shard.attempt)].filter((part) => part !== undefined).join(', ');
}

function shardPhaseWords(shard: ShardSnapshot, status: RunStatus): string {
  if (shard.phase === 'done') {
    return 'Done';
  }
  // Nothing is being asked any more: a row must not look alive.
  if (hasEnded(status)) {
    return shard.phase === 'running' ? 'Not finished' : 'Not started';
  }
  if (status === 'lost') {
    return shard.phase === 'running' ? 'Running when last heard' : 'Waiting when last heard';
  }
  return shard.phase === 'running' ? 'Running' : 'Waiting for a worker';
}

/** The name of a benchmark without the file it stands in: "bench/word_problems.py:word_problems" -> "word_problems". */
export function benchmarkName(benchmark: string): string {
  return /\.py:([^:/\\]+)$/.exec(benchmark)?.[1] ?? benchmark;
}

/** What a run is called in a title: "word_problems · practice". */
export function runTitle(run: RunSnapshot): string {
  return `${benchmarkName(run.benchmark)} · ${run.modelId}`;
}
