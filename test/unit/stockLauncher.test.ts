import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { countShards, readStockResult, stockArguments } from '../../src/benchmark/stockLauncher';
import { hideKeys } from '../../src/ray/hideKeys';

const LAUNCHER = 'python -m nemo_evaluator.engine.ray_launcher';

describe('the stock launcher', () => {
  it('is known by its command line, in each way that people write one', () => {
    const written = [
      `${LAUNCHER} --benchmark gsm8k --shards 8 --repeats 5 --model-id m --output-dir /data/out`,
      `${LAUNCHER} -b gsm8k -s 8 -n 5 --model-id=m -o /data/out --model-url http://127.0.0.1/v1`,
      `cd /work && PYTHONPATH=. ${LAUNCHER} --benchmark='gsm8k' --shards "8" --repeats=5 --model-id m -o "/data/out"`,
    ];
    for (const line of written) {
      assert.deepEqual(
        stockArguments(line),
        { benchmark: 'gsm8k', shards: 8, repeats: 5, modelId: 'm', outputFolder: '/data/out' },
        line,
      );
    }
    assert.equal(stockArguments('python -m shardboard_driver request.json'), undefined);
  });

  it('has its own defaults, and a folder with a space stays one', () => {
    assert.deepEqual(stockArguments(`${LAUNCHER} -b "my bench.py:one" -o '/my data/out'`), {
      benchmark: 'my bench.py:one',
      shards: 4,
      repeats: 1,
      modelId: undefined,
      outputFolder: '/my data/out',
    });
    assert.equal(stockArguments(`${LAUNCHER} -b gsm8k`)?.outputFolder, './eval_results/ray');
  });

  it('does not take what was hidden in place of a key for anything else', () => {
    const shown = hideKeys(`${LAUNCHER} -b gsm8k --api-key sk-CANARY-12345678 -s 8`);
    assert.doesNotMatch(JSON.stringify(stockArguments(shown)), /CANARY/);
    assert.equal(stockArguments(shown)?.shards, 8);
  });

  it('has its shards counted by the last attempt of each task', () => {
    const task = (id: string, state: string, attempt = 0, name = 'run_shard') => ({ id, state, attempt, name });
    const tasks = [
      task('1', 'FINISHED'),
      task('2', 'RUNNING', 1),
      task('2', 'FAILED', 0),
      task('3', 'PENDING_NODE_ASSIGNMENT'),
      task('4', 'FAILED'),
      task('5', 'RUNNING', 0, 'something_else'),
    ];
    assert.deepEqual(countShards(tasks, 8), { waiting: 5, running: 1, finished: 1, failed: 1 });
  });

  it('leaves a result that is taken only when it is of this job, with the errors that its bundle does not tell', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'shardboard-stock-'));
    try {
      const begin = Date.now();
      const bundle = (model: string, at: number) =>
        JSON.stringify({
          timestamp: new Date(at).toISOString(),
          config: { benchmark: 'gsm8k', model },
          benchmark: {
            samples: 2,
            repeats: 2,
            scores: { 'pass@1': { value: 0.5 }, summary: { mean: 0.5, n: 4 } },
            categories: { sums: { mean_reward: 0.5, n: 4 } },
          },
          n_results: 4,
        });
      await writeFile(join(folder, 'eval-1-gsm8k.json'), bundle('m', begin - 60_000));
      await writeFile(join(folder, 'eval-2-gsm8k.json'), bundle('another', begin + 1));
      const launched = { benchmark: 'gsm8k', shards: 2, repeats: 2, modelId: 'm', outputFolder: folder };
      assert.equal(await readStockResult(launched, begin), undefined);
      await writeFile(join(folder, 'eval-3-gsm8k.json'), bundle('m', begin + 1));
      const row = (category: string) => `${JSON.stringify({ scoring_details: { error_category: category } })}\n`;
      const said = JSON.stringify({ model_response: '"error_category": "infra_error"' });
      await writeFile(join(folder, 'results.jsonl'), `${row('infra_error')}${row('none')}${said}\n`);
      assert.deepEqual(await readStockResult(launched, begin - 1000), {
        path: join(folder, 'eval-3-gsm8k.json'),
        problems: 2,
        repeats: 2,
        answered: 4,
        rewardSum: 2,
        endpointErrors: 1,
        scores: { 'pass@1': { value: 0.5 } },
        categories: { sums: { mean_reward: 0.5, n: 4 } },
      });
      assert.equal(await readStockResult({ ...launched, outputFolder: './eval_results/ray' }, 0), undefined);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
