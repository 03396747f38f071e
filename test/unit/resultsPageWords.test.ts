import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunSnapshot } from '../../src/protocol/runSnapshot';
import {
  announcement,
  benchmarkName,
  originWords,
  runTitle,
  shardWords,
  statusSentence,
} from '../../src/results-page/words';
import { sampleRun, sampleRuns, sampleShard } from '../support/sampleRuns';

const { running, complete, partial, endpointFailed, stopped, lost, pending, checking, stock } = sampleRuns;

test('each state of a run is said in words', () => {
  const words: [RunSnapshot, string][] = [
    [{ ...pending, status: 'submitting' }, 'Submitting'],
    [pending, 'Waiting for Ray to start the run'],
    [{ ...pending, status: 'running' }, 'Starting the driver'],
    [checking, 'Checking the endpoint'],
    [{ ...checking, stage: 'asking' }, 'Waiting for the first answer'],
    [running, 'Running, 1,610 of 2,638 answers'],
    [{ ...running, stage: 'merging' }, 'Merging the shards, 1,610 of 2,638 answers'],
    [complete, 'Complete, 2,638 answers'],
    [partial, 'Partial, 2,426 of 2,638 answers'],
    [endpointFailed, 'Endpoint failed after 8 of 2,638 answers'],
    [{ ...checking, status: 'failed', reason: 'disk' }, 'Writing the results failed'],
    [{ ...checking, status: 'failed', reason: null }, 'Failed'],
    [stopped, 'Cancelled after 1,610 of 2,638 answers'],
    [{ ...checking, status: 'stopped' }, 'Cancelled before the first answer'],
    [lost, 'Cluster lost after 1,610 of 2,638 answers'],
    [stock, 'Running, shards: 2 of 8 finished, 2 running, 3 waiting, 1 failed'],
    [{ ...stock, status: 'partial' }, 'Ended, result not known'],
  ];
  for (const [run, expected] of words) {
    assert.equal(statusSentence(run), expected);
  }
});

test('whose run it is is said in words', () => {
  assert.equal(originWords(running), 'Submitted in this window');
  assert.equal(originWords({ ...running, origin: 'window' }), 'Submitted in another Shardboard window');
  assert.equal(
    originWords({ ...running, origin: 'window', submittedBy: 'ada' }),
    'Submitted by ada in another Shardboard window',
  );
  assert.match(originWords(stock), /stock launcher; Ray does not tell by whom/);
});

test('each state of a shard is said in words', () => {
  const shard = sampleShard(3, 231);
  assert.equal(shardWords(sampleShard(3, 0), 'running'), 'Waiting for a worker');
  assert.equal(shardWords(shard, 'running'), 'Running');
  assert.equal(shardWords({ ...shard, attempt: 1 }, 'running'), 'Running, second try');
  assert.equal(shardWords({ ...shard, attempt: 2, phase: 'waiting' }, 'running'), 'Waiting for a worker, third try');
  assert.equal(shardWords({ ...shard, attempt: 3 }, 'running'), 'Running, try 4');
  assert.equal(shardWords({ ...shard, phase: 'done' }, 'running'), 'Done');
  assert.equal(shardWords({ ...shard, phase: 'failed', message: 'Out of memory' }, 'partial'), 'Failed: Out of memory');
  assert.equal(shardWords({ ...shard, phase: 'failed' }, 'partial'), 'Failed');
});

test('a shard of a run that is over does not look alive', () => {
  const shard = sampleShard(3, 231);
  assert.equal(shardWords(shard, 'failed'), 'Not finished');
  assert.equal(shardWords({ ...shard, phase: 'waiting' }, 'failed'), 'Not started');
  assert.equal(shardWords(shard, 'lost'), 'Running when last heard');
  // Cancelling is no failure of the shard.
  assert.equal(
    shardWords({ ...shard, phase: 'failed', message: 'Stopped before it was done' }, 'stopped'),
    'Stopped before it was done',
  );
});

test('what is announced changes with the state, not with every answer', () => {
  const before = sampleRun([sampleShard(0, 10), sampleShard(1, 20)]);
  const after = sampleRun([sampleShard(0, 11), sampleShard(1, 23)]);
  assert.equal(announcement(before), 'Running');
  assert.equal(announcement(after), announcement(before));
  assert.equal(
    announcement(sampleRun([sampleShard(0, 11), sampleShard(1, 23, { phase: 'failed' })])),
    'Running. Shard 2 failed',
  );
  assert.equal(announcement(complete), 'Complete. pass@1 70.36\u00a0%');
  assert.equal(announcement(endpointFailed).includes('%'), false);
});

test('a benchmark is named without the file it stands in', () => {
  assert.equal(benchmarkName('benchmarks/word_problems.py:word_problems'), 'word_problems');
  assert.equal(benchmarkName('C:\\bench\\words.py:words'), 'words');
  assert.equal(benchmarkName('gsm8k'), 'gsm8k');
  assert.equal(benchmarkName('gym://math:easy'), 'gym://math:easy');
  assert.equal(runTitle(complete), 'word_problems · practice');
});
