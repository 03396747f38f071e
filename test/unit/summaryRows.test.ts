import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parsePreset } from '../../src/benchmark/runPreset';
import { changedText, type SummaryFacts, summaryRows } from '../../src/commands/summaryRows';

const least = { benchmark: 'b/words.py:words', modelUrl: 'practice', modelId: 'practice' };
const facts: SummaryFacts = {
  clusterName: 'local cluster',
  estimate: { problems: null, calls: null, ms: null, tokens: null, cost: null },
  packed: undefined,
  defaults: { requestsInFlight: 64, resultsFolder: '/results' },
  resultsFolder: '/results',
};
const rows = (change: object, known: Partial<SummaryFacts>): Record<string, string> =>
  Object.fromEntries(
    summaryRows(parsePreset('it', { ...least, ...change }), { ...facts, ...known }).map((row) => [
      row.label,
      [row.description, row.detail].join(' | ').replace(/ \| $/, '').replaceAll('\u00a0', ' '),
    ]),
  );

describe('the summary of a run', () => {
  it('names the cluster first', () => {
    assert.equal(summaryRows(parsePreset('it', least), facts)[0]?.label, 'Cluster');
  });

  it('says what is not known', () => {
    const { Questions, Estimate, Package } = rows({}, {});
    assert.equal(Questions, 'all problems (how many is not known yet), 1 repeat, in 8 shards');
    assert.match(Estimate ?? '', /not known/);
    assert.match(Package ?? '', /nothing of yours/);
  });

  it('says calls, time, tokens and cost when a run was seen', () => {
    const estimate = { problems: 50, calls: 100, ms: 90_000, tokens: 12_000, cost: [0.1, 0.4] as const };
    const prices = { promptTokens: 1, completionTokens: 2 };
    const { Questions, Estimate } = rows({ repeats: 2, maxProblems: 50, prices }, { estimate });
    assert.equal(Questions, '50 problems at most, 2 repeats: 100 calls, in 8 shards');
    assert.equal(Estimate, 'about 1 min, 12,000 tokens, cost between 0.10 and 0.40, judging by the last run');
    assert.match(rows({}, { estimate: { ...estimate, cost: null } }).Estimate ?? '', /No price is set$/);
  });

  it('says what travels along, and what does not', () => {
    const packed = {
      folder: '/home/ada/b',
      files: [],
      bytes: 2048 * 1024,
      largest: [{ name: 'data', bytes: 2047 * 1024 }],
      leftOut: ['.git', '.venv', 'a', 'b', 'c', 'd'],
    };
    assert.equal(
      rows({}, { packed }).Package,
      '2.0 MB from the folder b | Left out: .git, .venv, a, b and 2 more. Largest: data (2.0 MB)',
    );
  });

  it('says where keys come from', () => {
    const judge = { url: 'https://j.example.com/v1', modelId: 'j', key: { source: 'environment', name: 'J' } };
    const { Model, Judge } = rows({ judge }, {});
    assert.equal(Model, 'practice at the practice model on this machine, no key');
    assert.equal(Judge, 'j at https://j.example.com/v1, key in J on the cluster');
  });

  it('names what is no default', () => {
    assert.equal(changedText(parsePreset('it', { ...least, shards: 3 }), facts.defaults), 'All have their defaults');
    assert.equal(
      changedText(parsePreset('it', { ...least, maxProblems: 5, generation: { temperature: 1 } }), facts.defaults),
      'Problems at most: 5, Temperature: 1',
    );
  });
});
