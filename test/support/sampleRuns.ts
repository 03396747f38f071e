/** Runs as the page may get them, each a picture of one state. The numbers fit together as real ones do. */
import type { RunSnapshot, ShardSnapshot } from '../../src/protocol/runSnapshot';

/** Some moment; everything in the samples is told from it. */
export const SAMPLE_NOW = Date.UTC(2026, 4, 20, 9, 30, 0);

const PROBLEMS = 1319;
const REPEATS = 2;
const SHARDS = 8;

/** A shard of the sample benchmark with so many answers, about 70 % of them right. */
export function sampleShard(index: number, done: number, change: Partial<ShardSnapshot> = {}): ShardSnapshot {
  const smaller = Math.floor(PROBLEMS / SHARDS);
  const larger = PROBLEMS % SHARDS;
  const start = index * smaller + Math.min(index, larger);
  const end = start + smaller + (index < larger ? 1 : 0);
  const total = (end - start) * REPEATS;
  return {
    index,
    start,
    end,
    total,
    done,
    rewardSum: Math.round(done * (0.66 + (index % 4) * 0.03)),
    endpointErrors: 0,
    medianLatencyMs: done === 0 ? null : 51 + index,
    phase: done === total ? 'done' : done === 0 ? 'waiting' : 'running',
    attempt: 0,
    message: null,
    ...change,
  };
}

/** A run over these shards; the sums are theirs. */
export function sampleRun(shards: readonly ShardSnapshot[], change: Partial<RunSnapshot> = {}): RunSnapshot {
  const sum = (pick: (shard: ShardSnapshot) => number): number => shards.reduce((all, shard) => all + pick(shard), 0);
  const answered = sum((shard) => shard.done);
  return {
    id: 'run-1',
    benchmark: 'word_problems',
    modelId: 'practice',
    clusterName: 'Local Ray',
    status: 'running',
    stage: 'asking',
    message: null,
    reason: null,
    submittedAt: SAMPLE_NOW - 42_000,
    endedAt: null,
    lastHeardAt: null,
    lastAnswerAt: answered === 0 ? null : SAMPLE_NOW,
    repeats: REPEATS,
    problems: PROBLEMS,
    answered,
    expected: PROBLEMS * REPEATS,
    rewardSum: sum((shard) => shard.rewardSum),
    tokens: answered * 118,
    endpointErrors: sum((shard) => shard.endpointErrors),
    truncated: 0,
    empty: 0,
    shards: [...shards],
    scores: null,
    categories: null,
    bundlePath: null,
    outputFolder: '/home/ada/gym/shardboard-results/2026-05-20T09-29-18-word_problems',
    origin: 'here',
    submittedBy: null,
    shardCounts: null,
    ...change,
  };
}

const fullShards = Array.from({ length: SHARDS }, (_, index) => sampleShard(index, index < 7 ? 330 : 328));

const merged: Partial<RunSnapshot> = {
  stage: 'merging',
  endedAt: SAMPLE_NOW - 3_000,
  scores: {
    'pass@1': {
      value: 0.7036,
      ci_lower: 0.6842,
      ci_upper: 0.723,
      bootstrap_ci_lower: 0.6801,
      bootstrap_ci_upper: 0.7267,
    },
    'pass@2': { value: 0.7968, bootstrap_ci_lower: 0.7748, bootstrap_ci_upper: 0.818 },
  },
  categories: {
    money: { mean_reward: 0.7421, n: 660 },
    recipes: { mean_reward: 0.7121, n: 660 },
    trains: { mean_reward: 0.6894, n: 660 },
    gardens: { mean_reward: 0.6702, n: 658 },
  },
  bundlePath:
    '/home/ada/gym/shardboard-results/2026-05-20T09-29-18-word_problems/merged/eval-20260520T093000Z-word_problems.json',
};

const noShards: Partial<RunSnapshot> = { problems: 0, expected: 0, stage: null };

/** Every state that the page has a face for. */
export const sampleRuns = {
  empty: null,
  pending: sampleRun([], { ...noShards, status: 'pending', submittedAt: SAMPLE_NOW - 4_000 }),
  checking: sampleRun(
    fullShards.map((shard) => sampleShard(shard.index, 0)),
    { stage: 'checking_endpoint', submittedAt: SAMPLE_NOW - 7_000 },
  ),
  running: sampleRun([
    ...[330, 330, 262, 231, 196].map((done, index) =>
      sampleShard(index, done, index === 3 ? { endpointErrors: 3 } : {}),
    ),
    sampleShard(5, 148, { attempt: 1, rewardSum: 92 }),
    sampleShard(6, 113),
    sampleShard(7, 0),
  ]),
  complete: sampleRun(fullShards, { ...merged, status: 'complete' }),
  partial: sampleRun(
    fullShards.map((shard) => {
      switch (shard.index) {
        case 2:
          return sampleShard(2, 330, { endpointErrors: 41, rewardSum: 197 });
        case 5:
          return sampleShard(5, 118, {
            phase: 'failed',
            attempt: 2,
            message: 'The worker was killed three times: out of memory on node 10.0.0.7',
          });
        default:
          return shard;
      }
    }),
    {
      ...merged,
      status: 'partial',
      truncated: 12,
      empty: 1,
      message: '41 answers failed at the endpoint and shard 5 is missing.',
    },
  ),
  endpointFailed: sampleRun(
    fullShards.map((shard) =>
      sampleShard(shard.index, shard.index < 2 ? 4 : 0, {
        ...(shard.index < 2 ? { endpointErrors: 4, rewardSum: 0 } : {}),
        phase: 'failed',
        message: 'Ended before it was done',
      }),
    ),
    {
      status: 'failed',
      reason: 'endpoint',
      endedAt: SAMPLE_NOW - 20_000,
      message:
        'The endpoint at http://127.0.0.1:8000/v1 refuses the key (401 Unauthorized). Set the right key and submit again.',
    },
  ),
  stopped: sampleRun(
    [330, 330, 262, 231, 196, 148, 113, 0].map((done, index) =>
      sampleShard(index, done, index < 2 ? {} : { phase: 'failed', message: 'Stopped before it was done' }),
    ),
    {
      status: 'stopped',
      endedAt: SAMPLE_NOW - 3_000,
      message: 'Cancelled. The answers that had come are kept in the output folder.',
    },
  ),
  lost: sampleRun(
    [330, 330, 262, 231, 196, 148, 113, 0].map((done, index) => sampleShard(index, done)),
    { status: 'lost', lastHeardAt: SAMPLE_NOW - 200_000, submittedAt: SAMPLE_NOW - 260_000 },
  ),
  stock: sampleRun([], {
    ...noShards,
    status: 'running',
    origin: 'stock',
    shardCounts: { waiting: 3, running: 2, finished: 2, failed: 1 },
    outputFolder: './eval_results/ray',
  }),
} satisfies Record<string, RunSnapshot | null>;
