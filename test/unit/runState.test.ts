import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apply, initialRunState, type RunEvent, type RunState, snapshotOf } from '../../src/benchmark/runState';
import type { CompactAnswer } from '../../src/protocol/driverEvents';

const facts = {
  id: 'run-1',
  benchmark: 'word_problems',
  modelId: 'practice',
  clusterName: 'local cluster',
  shards: 2,
  repeats: 2,
  submittedAt: 1000,
  outputFolder: '/results/run-1',
};

const at = { v: 2 as const, t: 1 };

const start: RunEvent = {
  ...at,
  type: 'start',
  benchmark: 'word_problems',
  problems: 3,
  repeats: 2,
  ranges: [
    [0, 2],
    [2, 3],
  ],
  folder: '/results/run-1',
  evaluator: '0.3.0',
  ray: '2.60.0',
  python: '3.12.1',
};

const answer = (
  position: number,
  repeat: number,
  reward: number,
  outcome: CompactAnswer[6] = 'ok',
  latency = 50,
): CompactAnswer => [position, 100 + position, repeat, reward, latency, 10, outcome];

const answers = (shard: number, list: CompactAnswer[], attempt = 0): RunEvent => ({
  ...at,
  type: 'answers',
  shard,
  attempt,
  answers: list,
});

const shardDone = (shard: number, attempt = 0): RunEvent => ({
  ...at,
  type: 'shard_done',
  shard,
  attempt,
  seconds: 1,
});

const job = (status: 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'STOPPED', message?: string): RunEvent => ({
  type: 'job',
  status,
  message,
  endedAt: status === 'PENDING' || status === 'RUNNING' ? undefined : 9000,
});

const end = (outcome: 'complete' | 'partial' | 'failed' | 'stopped', reason?: 'endpoint'): RunEvent => ({
  ...at,
  type: 'end',
  outcome,
  reason,
  message: `The run is ${outcome}.`,
  answered: 6,
  expected: 6,
  endpointErrors: 0,
  judgeErrors: 0,
  truncated: 0,
  empty: 0,
  missingShards: [],
});

const fold = (events: readonly RunEvent[]): RunState => events.reduce(apply, initialRunState(facts));
const draw = (...events: RunEvent[]) => snapshotOf(fold(events));

describe('the fold of a run', () => {
  it('knows the ranges and totals from the start event on', () => {
    const { shards, expected } = draw(start);
    assert.equal(expected, 6);
    assert.deepEqual(
      shards.map((shard) => [shard.start, shard.end, shard.total, shard.done, shard.phase]),
      [
        [0, 2, 4, 0, 'waiting'],
        [2, 3, 2, 0, 'waiting'],
      ],
    );
  });

  it('adds answers up, shard by shard and over all', () => {
    const running: RunEvent = { ...at, type: 'shard', shard: 0, attempt: 0, state: 'running' };
    const run = draw(
      start,
      running,
      answers(0, [answer(0, 0, 1, 'ok', 10), answer(0, 1, 0, 'ok', 30)]),
      answers(1, [answer(2, 0, 1)]),
    );
    assert.deepEqual([run.answered, run.rewardSum, run.tokens], [3, 2, 30]);
    assert.equal(run.shards[0]?.medianLatencyMs, 30);
    assert.equal(run.shards[0]?.phase, 'running');
  });

  it('counts an answer that is told twice once, and takes the later reward', () => {
    const run = draw(start, answers(0, [answer(0, 0, 0, 'endpoint_error')]), answers(0, [answer(0, 0, 1)], 1));
    assert.deepEqual([run.answered, run.rewardSum, run.endpointErrors], [1, 1, 0]);
  });

  it('is the same when the whole log is replayed on top of itself', () => {
    const events = [start, answers(0, [answer(0, 0, 1)]), answers(1, [answer(2, 1, 0, 'truncated')])];
    assert.deepEqual(draw(...events, ...events), draw(...events));
  });

  it('counts an answer that is asked again once, with what it became', () => {
    const run = draw(
      start,
      answers(1, [answer(2, 0, 0, 'endpoint_error')]),
      answers(1, [answer(2, 0, 1)], 1),
      shardDone(1, 1),
    );
    assert.deepEqual(
      [run.shards[1]?.done, run.shards[1]?.rewardSum, run.endpointErrors, run.shards[1]?.phase],
      [1, 1, 0, 'done'],
    );
  });

  it('shows what an earlier run had answered before anything is asked', () => {
    const run = draw(start, answers(0, [answer(0, 0, 1)]));
    assert.deepEqual([run.answered, run.shards[0]?.phase], [1, 'waiting']);
  });

  it('shows the second try of a shard, whatever the order of the lines', () => {
    const retry: RunEvent = { ...at, type: 'shard', shard: 0, attempt: 1, state: 'running' };
    const failed: RunEvent = {
      ...at,
      type: 'shard',
      shard: 0,
      attempt: 0,
      state: 'failed',
      message: 'The worker died.',
    };
    const shard = draw(start, retry, failed).shards[0];
    assert.deepEqual([shard?.attempt, shard?.phase, shard?.message], [1, 'running', null]);
  });

  it('lets the job alone decide whether the run goes on', () => {
    assert.equal(draw(job('PENDING')).status, 'pending');
    assert.equal(draw(job('RUNNING'), start, end('complete')).status, 'running');
    assert.equal(draw(job('RUNNING'), start, end('complete'), job('SUCCEEDED')).status, 'complete');
  });

  it('takes the last word of a driver that had merged when it was stopped, and its own for one that had not', () => {
    assert.equal(draw(start, end('complete'), job('STOPPED')).status, 'complete');
    const stopped = draw(start, end('stopped'), job('STOPPED'));
    assert.deepEqual([stopped.status, stopped.message], ['stopped', 'The run is stopped.']);
    assert.match(draw(start, job('STOPPED')).message ?? '', /kept/);
  });

  it('is partial, not complete, when the driver says so though Ray calls the job failed', () => {
    const run = draw(start, end('partial'), job('FAILED', 'exit code 3'));
    assert.deepEqual([run.status, run.message, run.endedAt], ['partial', 'The run is partial.', 9000]);
  });

  it('names the endpoint when the endpoint failed', () => {
    const run = draw(end('failed', 'endpoint'), job('FAILED'));
    assert.deepEqual([run.status, run.reason], ['failed', 'endpoint']);
  });

  it("gives Ray's last line when the driver died without a word, and leaves no shard running", () => {
    const run = draw(start, answers(0, [answer(0, 0, 1)]), job('FAILED', 'Traceback\nMemoryError: out of memory'));
    assert.equal(run.status, 'failed');
    assert.match(run.message ?? '', /MemoryError: out of memory/);
    assert.doesNotMatch(run.message ?? '', /Traceback/);
    assert.deepEqual(
      run.shards.map((shard) => shard.phase),
      ['failed', 'failed'],
    );
  });

  it('changes only when it was last heard while the cluster does not answer', () => {
    const run = draw(job('RUNNING'), start, { type: 'unheard', since: 5000, fate: 'silent' });
    assert.deepEqual([run.status, run.lastHeardAt], ['running', 5000]);
    assert.equal(
      draw(job('RUNNING'), { type: 'unheard', since: 5000, fate: 'silent' }, job('RUNNING')).lastHeardAt,
      null,
    );
  });

  it('is lost when the cluster is gone, says where the answers are, and comes back with the cluster', () => {
    const gone: RunEvent = { type: 'unheard', since: 5000, fate: 'gone' };
    const run = draw(job('RUNNING'), start, gone);
    assert.equal(run.status, 'lost');
    assert.match(run.message ?? '', /\/results\/run-1/);
    const back = draw(job('RUNNING'), start, gone, job('RUNNING'));
    assert.deepEqual([back.status, back.message], ['running', null]);
  });

  it('says that a cluster was left, and not that it is gone', () => {
    const run = draw(job('RUNNING'), start, { type: 'unheard', since: 5000, fate: 'left' });
    assert.equal(run.status, 'lost');
    assert.match(run.message ?? '', /Join it again/);
  });

  it('knows when the last answer came', () => {
    assert.equal(draw(start).lastAnswerAt, null);
    assert.equal(
      draw(start, { ...at, t: 7, type: 'answers', shard: 0, attempt: 0, answers: [answer(0, 0, 1)] }).lastAnswerAt,
      7000,
    );
  });

  it('does not lose a run that has ended', () => {
    const run = draw(start, end('complete'), job('SUCCEEDED'), { type: 'unheard', since: 1, fate: 'gone' });
    assert.equal(run.status, 'complete');
  });

  it('keeps the reason why a request never became a job', () => {
    const run = draw({ type: 'not_submitted', message: 'The package is too large.', at: 7 });
    assert.deepEqual([run.status, run.message, run.endedAt], ['failed', 'The package is too large.', 7]);
  });
});
