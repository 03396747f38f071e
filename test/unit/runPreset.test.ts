import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { benchmarkText, isWebAddress, ownBenchmarkOf, parsePreset, writtenPreset } from '../../src/benchmark/runPreset';
import { UserError } from '../../src/common/userError';

const least = { benchmark: 'gsm8k', modelUrl: 'http://127.0.0.1:8000/v1', modelId: 'm' };

describe('a preset', () => {
  it('has a default for all but benchmark and model', () => {
    const preset = parsePreset('it', least);
    assert.deepEqual([preset.shards, preset.repeats, preset.shuffleSeed, preset.attempts], [8, 1, 42, 12]);
    assert.deepEqual([preset.generation.temperature, preset.key.source, preset.requestsInFlight], [0, 'none', null]);
  });

  it('is written down with what differs from the defaults, and reads the same again', () => {
    const preset = parsePreset('it', {
      ...least,
      shuffleSeed: null,
      generation: { temperature: 0, topP: 0.9, stop: ['END'] },
      key: { source: 'environment', name: 'NVIDIA_API_KEY' },
      budget: { answers: 100 },
      tags: ['pilot'],
      judge: { url: 'https://example.com/v1', modelId: 'j', key: { source: 'stored' } },
    });
    const written = writtenPreset(preset);
    assert.deepEqual(written, {
      ...least,
      shards: 8,
      repeats: 1,
      shuffleSeed: null,
      generation: { topP: 0.9, stop: ['END'] },
      key: { source: 'environment', name: 'NVIDIA_API_KEY' },
      budget: { answers: 100 },
      tags: ['pilot'],
      judge: { url: 'https://example.com/v1', modelId: 'j', key: { source: 'stored' } },
    });
    assert.deepEqual(parsePreset('it', written), preset);
  });

  it('names what does not fit', () => {
    const fault = (written: unknown): string => {
      try {
        parsePreset('the preset "nightly"', written);
      } catch (error) {
        assert.ok(error instanceof UserError);
        return error.message;
      }
      assert.fail('it fitted');
    };
    assert.match(fault({ ...least, shard: 3 }), /^Correct the preset "nightly"\. shard: /);
    assert.match(fault({ ...least, shards: 0 }), /shards: /);
    assert.match(fault({ ...least, modelUrl: 'example.com' }), /modelUrl: An address that starts with http/);
    assert.match(fault({ ...least, generation: { top_p: 1 } }), /generation\.top_p: /);
    assert.match(fault({ ...least, key: 'sk-1' }), /key: /);
    assert.match(fault(undefined), /it: /);
  });

  it('takes no address that is none, and none with a secret in it', () => {
    assert.ok(isWebAddress('https://example.com/v1'));
    for (const address of ['example.com', 'ftp://example.com', 'http://', 'https://me:secret@example.com/v1', '']) {
      assert.ok(!isWebAddress(address), address);
    }
  });

  it("names the user's own benchmark by a path below the workspace folder", () => {
    const resolve = (path: string): string => `/work/${path}`;
    assert.deepEqual(ownBenchmarkOf('b/words.py:words', resolve), { file: '/work/b/words.py', name: 'words' });
    for (const other of ['gsm8k', 'gym://host:8000', 'words.py', 'skills://x.py:y']) {
      assert.equal(ownBenchmarkOf(other, resolve), undefined, other);
    }
    assert.equal(benchmarkText({ file: '/work/b/words.py', name: 'words' }, '/work'), 'b/words.py:words');
    assert.equal(benchmarkText({ file: '/other/words.py', name: 'words' }, '/work'), '/other/words.py:words');
  });
});
