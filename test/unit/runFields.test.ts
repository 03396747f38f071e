import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parsePreset, type RunPreset } from '../../src/benchmark/runPreset';
import { isChanged, proposedText, RUN_FIELDS, shownValue, withField } from '../../src/commands/runFields';

const run = parsePreset('it', { benchmark: 'gsm8k', modelUrl: 'practice', modelId: 'm' });
const defaults = { requestsInFlight: 64, resultsFolder: '/results' };

const field = (label: string) => {
  const found = RUN_FIELDS.find((each) => each.label === label);
  assert.ok(found, label);
  return found;
};
const typed = (label: string, text: string, before: RunPreset = run): RunPreset => {
  const changed = withField(field(label), before, text);
  assert.ok(typeof changed !== 'string', `${label}: ${String(changed)}`);
  return changed;
};
const refused = (label: string, text: string): string => {
  const said = withField(field(label), run, text);
  assert.ok(typeof said === 'string', label);
  return said;
};

describe('the settings of a run', () => {
  it('show a value or what its absence means', () => {
    const shown = Object.fromEntries(RUN_FIELDS.map((each) => [each.label, shownValue(each, run, defaults)]));
    assert.equal(shown['Problems at most'], 'all');
    assert.equal(shown['Shuffle seed'], '42');
    assert.equal(shown['Requests in flight, of all shards together'], '64');
    assert.equal(shown['Results folder'], '/results');
    assert.ok(
      Object.values(shown).every((text) => text !== ''),
      JSON.stringify(shown),
    );
  });

  it('propose what they take back unchanged', () => {
    const full = parsePreset('it', {
      ...run,
      systemPrompt: 'Be brief.\nAnswer in numbers.',
      generation: {
        temperature: 0.7,
        topP: 0.9,
        maxTokens: 512,
        seed: -1,
        stop: ['\n\n', 'END'],
        presencePenalty: -0.5,
      },
      memoryPerShard: 1.5 * 1024 ** 3,
      prices: { promptTokens: 0.5, completionTokens: 2 },
      budget: { answers: 10, tokens: 20, money: 1.25 },
      tags: ['pilot', 'nightly'],
      resultsFolder: '/elsewhere',
    });
    for (const each of RUN_FIELDS) {
      assert.deepEqual(withField(each, full, proposedText(each, full)), full, each.label);
    }
  });

  it('are read as they are meant', () => {
    assert.equal(typed('Problems at most', '50').maxProblems, 50);
    assert.equal(typed('Problems at most', '', typed('Problems at most', '50')).maxProblems, null);
    assert.equal(typed('Temperature', '0.7').generation.temperature, 0.7);
    assert.deepEqual(typed('Stop sequences', 'END, ###').generation.stop, ['END', '###']);
    assert.deepEqual(typed('Stop sequences', '["\\n", "a,b"]').generation.stop, ['\n', 'a,b']);
    assert.equal(typed('Memory of a process that asks, in GiB', '0.5').memoryPerShard, 512 * 1024 ** 2);
    assert.deepEqual(typed('Tags', 'a,, b').tags, ['a', 'b']);
  });

  it('set both prices with the first, and take both away', () => {
    const one = typed('Price of a million prompt tokens', '2');
    assert.deepEqual(one.prices, { promptTokens: 2, completionTokens: 2 });
    const both = typed('Price of a million answer tokens', '6', one);
    assert.deepEqual(both.prices, { promptTokens: 2, completionTokens: 6 });
    assert.equal(typed('Price of a million answer tokens', '', both).prices, null);
  });

  it('say what they expect of what does not fit', () => {
    assert.equal(refused('Problems at most', '0'), 'A whole number from 1 on, or nothing');
    assert.equal(refused('Shards', ''), 'A value is needed here');
    assert.equal(refused('Shards', '0x10'), 'A whole number from 1 on');
    assert.equal(refused('Shuffle seed', '1.5'), 'A whole number, or nothing');
    assert.equal(refused('Top p', '2'), 'A number from 0 to 1, or nothing');
    assert.equal(refused('Temperature', '-1'), 'A number that is not negative, or nothing');
    assert.match(refused('Address', 'example.com'), /^An address that starts with/);
    assert.match(refused('Stop sequences', '["a"'), /^Texts that are not empty/);
  });

  it('tell what is no default', () => {
    assert.deepEqual(
      RUN_FIELDS.filter((each) => isChanged(each, run)).map(({ label }) => label),
      ['Model id'],
    );
    const changed = typed('Budget: answers', '10', typed('Shuffle seed', ''));
    assert.deepEqual(
      RUN_FIELDS.filter((each) => isChanged(each, changed)).map(({ label }) => label),
      ['Shuffle seed', 'Model id', 'Budget: answers'],
    );
  });
});
