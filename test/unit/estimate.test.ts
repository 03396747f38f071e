import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EarlierRun, estimateRun, type PlannedRun } from '../../src/benchmark/estimate';

const planned: PlannedRun = { repeats: 5, maxProblems: null, requestsInFlight: 64, prices: null };
/** 1,000 answers of 1 s, 50 at once: 20 s of asking, after a start of 10 s. */
const earlier: EarlierRun = {
  datasetSize: 1000,
  answered: 1000,
  tokens: 200_000,
  requestsInFlight: 50,
  tookMs: 30_000,
  medianLatencyMs: 1000,
};

describe('the estimate of a run', () => {
  it('says unknown where nothing is known', () => {
    assert.deepEqual(estimateRun(planned, undefined), {
      problems: null,
      calls: null,
      ms: null,
      tokens: null,
      cost: null,
    });
    assert.deepEqual(estimateRun({ ...planned, maxProblems: 50 }, undefined), {
      problems: 50,
      calls: 250,
      ms: null,
      tokens: null,
      cost: null,
    });
  });

  it('is the earlier run itself for the same run again', () => {
    const same = estimateRun({ ...planned, repeats: 1, requestsInFlight: 50 }, earlier);
    assert.deepEqual(same, { problems: 1000, calls: 1000, ms: 30_000, tokens: 200_000, cost: null });
  });

  it('grows with the answers and shrinks with the requests in flight, but for the start', () => {
    assert.equal(estimateRun({ ...planned, requestsInFlight: 50 }, earlier).ms, 10_000 + 100_000);
    assert.equal(estimateRun({ ...planned, requestsInFlight: 100 }, earlier).ms, 10_000 + 50_000);
  });

  it('takes no more than half a minute for the start: a slow endpoint is slow for every answer', () => {
    const slow = { ...earlier, tookMs: 130_000 };
    assert.equal(estimateRun({ ...planned, repeats: 2, requestsInFlight: 50 }, slow).ms, 30_000 + 200_000);
  });

  it('never counts more problems than there are', () => {
    assert.equal(estimateRun({ ...planned, maxProblems: 5000 }, earlier).calls, 5000);
    assert.equal(estimateRun({ ...planned, maxProblems: 10 }, earlier).calls, 50);
    assert.equal(estimateRun({ ...planned, maxProblems: 10 }, { ...earlier, datasetSize: null }).calls, 50);
  });

  it('gives the cost between that of prompts alone and that of answers alone', () => {
    const prices = { promptTokens: 1, completionTokens: 4 };
    assert.deepEqual(estimateRun({ ...planned, prices }, earlier).cost, [1, 4]);
    assert.equal(estimateRun({ ...planned, prices }, { ...earlier, tokens: 0 }).cost, null);
  });

  it('tells no time after a run that told none', () => {
    assert.equal(estimateRun(planned, { ...earlier, tookMs: null }).ms, null);
    assert.equal(estimateRun(planned, { ...earlier, answered: 0 }).tokens, null);
  });
});
