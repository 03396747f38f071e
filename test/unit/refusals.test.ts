import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KnownBeforeRun, refusalOf } from '../../src/benchmark/refusals';
import { parsePreset } from '../../src/benchmark/runPreset';
import { BUILT_IN, benchmarkProblem } from '../../src/commands/benchmarkChoices';

const known: KnownBeforeRun = { problems: null, resultsFolder: '/results', otherFolders: ['/results/run-1'] };
const refusal = (change: object, more: Partial<KnownBeforeRun> = {}) =>
  refusalOf(parsePreset('it', { benchmark: 'gsm8k', modelUrl: 'practice', modelId: 'm', ...change }), {
    ...known,
    ...more,
  });

describe('what is refused before it is sent', () => {
  it('is nothing of a run that can be', () => {
    assert.equal(refusal({}), undefined);
    assert.equal(refusal({ shards: 12 }, { problems: 12 }), undefined);
  });

  it('is more shards than problems', () => {
    assert.match(refusal({ shards: 13 }, { problems: 12 }) ?? '', /at most 12 shards/);
  });

  it('is a folder for results that is relative, or is of another run', () => {
    assert.match(refusal({}, { resultsFolder: 'results' }) ?? '', /absolute/);
    assert.match(refusal({}, { resultsFolder: '/results/run-1' }) ?? '', /another run, \/results\/run-1/);
    assert.match(refusal({}, { resultsFolder: '/results/run-1/more' }) ?? '', /another run/);
    assert.equal(refusal({}, { resultsFolder: '/results/run-10' }), undefined);
  });

  it('is a budget in money without prices', () => {
    assert.match(refusal({ budget: { money: 5 } }) ?? '', /prices/);
    assert.equal(refusal({ budget: { money: 5 }, prices: { promptTokens: 1, completionTokens: 1 } }), undefined);
  });
});

describe('a benchmark that is typed', () => {
  it('may be a name, a running Gym server, or what the evaluator knows', () => {
    for (const typed of ['gsm8k', 'gym://127.0.0.1:8000', 'skills://x', 'lm-eval://arc']) {
      assert.equal(benchmarkProblem(typed), undefined, typed);
    }
  });

  it('is refused with the reason where it cannot be run here', () => {
    assert.match(benchmarkProblem('humaneval') ?? '', /containers/);
    assert.match(benchmarkProblem('container://x') ?? '', /containers/);
    assert.match(benchmarkProblem('gym://host') ?? '', /gym:\/\/127/);
    assert.match(benchmarkProblem('ftp://host') ?? '', /knows no ftp/);
    assert.match(benchmarkProblem('') ?? '', /A name/);
  });

  it('is listed with those that can be run first', () => {
    const refused = BUILT_IN.map((choice) => choice.refusal !== undefined);
    assert.deepEqual(refused, [...refused].sort());
    assert.equal(BUILT_IN.length, 17);
  });
});
