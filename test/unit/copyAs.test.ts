import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { asPython, asRayJobSubmit, type CopiedRun } from '../../src/benchmark/copyAs';
import { parsePreset } from '../../src/benchmark/runPreset';

const copied = (change: object = {}, own: CopiedRun['own'] = undefined): CopiedRun => ({
  preset: parsePreset('it', { benchmark: 'gsm8k', modelUrl: 'https://example.com/v1', modelId: 'm', ...change }),
  own,
  modelUrl: 'https://example.com/v1',
  outputFolder: "/results of 'us'/stock",
  dashboardUrl: 'http://127.0.0.1:8265',
  gcsAddress: '10.0.0.7:6379',
  python: '/envs/my env/bin/python',
});

/** The words that a shell makes of the copied command. */
function words(text: string): string[] {
  const shown = execFileSync('sh', ['-c', `ray() { for word; do printf '%s\\0' "$word"; done; }\n${text}`]);
  return shown.toString().split('\0').slice(0, -1);
}

describe('a run copied as ray job submit', () => {
  it('gives the launcher every word as it is meant', () => {
    const own = { file: "/it's mine/words.py", name: 'words' };
    const text = asRayJobSubmit(copied({ shards: 3, maxProblems: 7, systemPrompt: 'Say "$HOME"\nonce' }, own));
    assert.deepEqual(words(text), [
      ...['job', 'submit', '--address', 'http://127.0.0.1:8265', '--working-dir', "/it's mine"],
      ...['--runtime-env-json', '{"excludes":["shardboard-results"]}', '--'],
      ...['/envs/my env/bin/python', '-m', 'nemo_evaluator.engine.ray_launcher'],
      ...['--benchmark', 'words.py:words', '--shards', '3', '--repeats', '1', '--max-problems', '7'],
      ...['--model-url', 'https://example.com/v1', '--model-id', 'm', '--system-prompt', 'Say "$HOME"\nonce'],
      ...['--shuffle-seed', '42', '--output-dir', "/results of 'us'/stock"],
    ]);
  });

  it('lets the cluster read the key, under whatever name it has it', () => {
    const named = asRayJobSubmit(copied({ key: { source: 'environment', name: 'NVIDIA_API_KEY' } }));
    const [program, option, script, python] = words(named).slice(5);
    assert.deepEqual([program, option, python], ['sh', '-c', '/envs/my env/bin/python']);
    const asked = execFileSync('sh', ['-c', script ?? '', 'printenv', 'NEMO_API_KEY'], {
      env: { PATH: process.env.PATH, NVIDIA_API_KEY: 'a key' },
    });
    assert.equal(asked.toString(), 'a key\n');

    const stored = asRayJobSubmit(copied({ key: { source: 'stored' } }));
    assert.match(stored, /^# The endpoint's key is read from the environment variable NEMO_API_KEY\./m);
    assert.doesNotMatch(stored, /--api-key|sh -c/);
  });

  it('says what the launcher cannot do', () => {
    const text = asRayJobSubmit(
      copied({ shuffleSeed: null, generation: { temperature: 0.7, stop: ['x'] }, budget: { answers: 3 } }),
    );
    assert.match(text, /left out: temperature 0\.7, stop sequences, the budget\./);
    assert.match(text, /--shuffle-seed -1/);
  });
});

describe('a run copied as Python', () => {
  it('gives the shards all arguments, and takes the key from the environment', () => {
    const own = { file: "/it's mine/words.py", name: 'words' };
    const text = asPython(copied({ key: { source: 'environment', name: 'MY_KEY' }, shuffleSeed: null }, own));
    assert.match(text, /ray\.init\(address="10\.0\.0\.7:6379", runtime_env=\{"working_dir": "\/it's mine", "excludes"/);
    assert.match(text, /benchmark="words\.py:words"/);
    assert.match(text, /api_key=os\.environ\["MY_KEY"\]/);
    assert.match(text, /max_problems=None,\n\s+system_prompt=None,\n\s+shuffle_seed=None/);
  });
});
