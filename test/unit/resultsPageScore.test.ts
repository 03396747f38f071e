import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunSnapshot } from '../../src/protocol/runSnapshot';
import { headline, headlineText, shardScore } from '../../src/results-page/headline';
import { scaleOf } from '../../src/results-page/intervalPlot';
import { trustNotes, trustTitle } from '../../src/results-page/trustNotes';
import { SAMPLE_NOW, sampleRun, sampleRuns, sampleShard } from '../support/sampleRuns';

const { running, complete, partial, endpointFailed, stopped, lost, pending } = sampleRuns;

const notesOf = (run: RunSnapshot): string =>
  trustNotes(run, SAMPLE_NOW)
    .map((note) => note.text)
    .join('\n');

test('a run that has had no answer for long says so', () => {
  const silent = { ...sampleRuns.running, lastAnswerAt: SAMPLE_NOW - 150_000 };
  assert.match(notesOf(silent), /The last answer came 2.min ago/);
  assert.doesNotMatch(notesOf({ ...silent, lastAnswerAt: SAMPLE_NOW - 5_000 }), /The last answer came/);
  assert.doesNotMatch(notesOf({ ...silent, status: 'stopped' }), /The last answer came/);
});

test('while a run goes on its score is the mean of the answers so far', () => {
  const score = headline(running);
  assert.ok(score);
  assert.equal(score.label, 'Mean reward so far');
  assert.equal(score.value, running.rewardSum / running.answered);
  assert.equal(headlineText(score), '68.9\u00a0%');
});

test("after the merge the score is the evaluator's own", () => {
  assert.deepEqual(headline(complete), { label: 'pass@1', value: 0.7036, final: true });
  const graded = headline({ ...complete, scores: { mean_reward: { value: 2.125 } } });
  assert.deepEqual(graded, { label: 'Mean reward', value: 2.125, final: true });
  // A reward above 1 is no share and must not read as 212 %.
  assert.equal(graded && headlineText(graded), '2.1250');
});

test('a dead endpoint gives no score, never 0 %', () => {
  assert.equal(headline(endpointFailed), undefined);
  // Not even one that the evaluator has written: it counts such answers as 0.
  assert.equal(headline({ ...endpointFailed, scores: { 'pass@1': { value: 0 } } }), undefined);
  const allFailed = sampleRun([sampleShard(0, 12, { endpointErrors: 12, rewardSum: 0 })]);
  assert.equal(headline(allFailed), undefined);
  assert.equal(shardScore(sampleShard(0, 12, { endpointErrors: 12, rewardSum: 0 })), undefined);
  assert.match(notesOf(allFailed), /All 12 answers failed at the endpoint, so nothing is known/);
  assert.equal(headline(pending), undefined);
});

test('a wrong model does score 0 %', () => {
  const score = headline(sampleRun([sampleShard(0, 12, { rewardSum: 0 })]));
  assert.equal(score && headlineText(score), '0.0\u00a0%');
});

test('only a complete run that nothing weakens is quiet', () => {
  for (const [name, run] of Object.entries(sampleRuns)) {
    if (run !== null) {
      assert.equal(trustNotes(run, SAMPLE_NOW).length === 0, name === 'complete', name);
    }
  }
});

test('what weakens a score is named with its number', () => {
  const notes = notesOf(partial);
  assert.match(notes, /41 answers failed at the endpoint and count as 0\. Without them the mean reward is 70\.2.%/);
  assert.match(notes, /Shard 6 failed; 212 answers are missing\./);
  assert.match(notes, /12 answers were cut off at the length limit/);
  assert.match(notes, /1 answer was empty\./);
  assert.match(notesOf(running), /Partial: 1,028 answers still to come\. Early answers are not a fair sample/);
  assert.match(
    notesOf({ ...complete, endpointErrors: 1 }),
    /1 answer failed at the endpoint and counts as 0\. Without it/,
  );
});

test('answers missing from a run that says it is complete are not hidden', () => {
  assert.match(notesOf({ ...complete, answered: 2637 }), /1 answer is missing\./);
});

test('a run without a final score says why', () => {
  assert.equal(trustTitle(endpointFailed), 'Why there is no final score');
  assert.match(notesOf(endpointFailed), /401 Unauthorized/);
  assert.match(notesOf({ ...endpointFailed, message: null }), /The log says more/);
  assert.match(notesOf(stopped), /Cancelled\./);
  assert.doesNotMatch(notesOf(stopped), /Shards? .* failed/);
  assert.equal(trustTitle(partial), 'Before you trust it');
});

test('a lost run says since when, and that the answers are kept', () => {
  assert.match(notesOf(lost), /The cluster has not been heard since .*, 3.min ago\./);
  assert.match(notesOf(lost), /answers on disk are kept/);
});

test('all intervals share one scale that holds them', () => {
  const scale = scaleOf([
    { value: 0.7, ci_lower: 0.6, ci_upper: 0.8, bootstrap_ci_lower: 0.65, bootstrap_ci_upper: 0.75 },
    { value: 1 },
  ]);
  assert.ok(scale.from < 0.6 && scale.to > 1);
  const points = scaleOf([{ value: 1, bootstrap_ci_lower: 1, bootstrap_ci_upper: 1 }]);
  assert.ok(points.to > points.from);
});
