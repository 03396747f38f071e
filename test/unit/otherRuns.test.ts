import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createOtherRuns, type OtherRuns } from '../../src/benchmark/otherRuns';
import type { RunSnapshot } from '../../src/protocol/runSnapshot';
import type { RayClient, RayJob, RayTask } from '../../src/ray/client';
import { originWords, statusSentence } from '../../src/results-page/words';
import { answersLine, endLine, startLine } from '../support/driverLines';
import { createFakeRay } from '../support/fakeRay';

const job = (submissionId: string, entrypoint: string, change: Partial<RayJob> = {}): RayJob => ({
  type: 'SUBMISSION',
  submissionId,
  jobId: '02000000',
  status: 'RUNNING',
  entrypoint,
  message: undefined,
  errorType: undefined,
  startedAt: 1,
  endedAt: undefined,
  metadata: {},
  exitCode: undefined,
  ...change,
});
const STOCK = 'python -m nemo_evaluator.engine.ray_launcher --benchmark gsm8k --shards 4 --model-id m';
const DRIVER = 'python -u -m shardboard_driver request.json';
const METADATA = { benchmark: 'word_problems', model: 'practice', shards: '2', user: 'ada' };

describe('the runs of others', () => {
  let others: OtherRuns;
  let jobs: Map<string, RayJob>;
  let tasks: RayTask[];
  let asked: string[];
  let ray: ReturnType<typeof createFakeRay>;
  let errors: string[];

  beforeEach(() => {
    jobs = new Map();
    tasks = [];
    asked = [];
    errors = [];
    ray = createFakeRay();
    const client: RayClient = {
      ...ray.client,
      async job(id) {
        asked.push(`job ${id}`);
        const found = jobs.get(id);
        assert.ok(found, `the job ${id} is there`);
        return found;
      },
      async tasks(id) {
        asked.push(`tasks ${id}`);
        return tasks;
      },
    };
    others = createOtherRuns({
      cluster: () => ({ name: 'local cluster', sessionName: 'session_1', client }),
      isOwn: (id) => id === 'mine',
      logError: (message) => errors.push(message),
    });
  });
  afterEach(() => others.dispose());

  const tell = (...told: RayJob[]): void => {
    for (const one of told) {
      jobs.set(one.submissionId ?? '', one);
    }
    others.see([...jobs.values()]);
  };
  const until = (id: string, isSo: (run: RunSnapshot) => boolean): Promise<RunSnapshot> =>
    new Promise((resolve) => {
      const look = (): void => {
        const run = others.snapshot(id);
        if (run && isSo(run)) {
          subscription.dispose();
          resolve(run);
        }
      };
      const subscription = others.onDidChange(look);
      look();
    });

  it('are those of the stock launcher and of other windows, and nobody is asked for more', () => {
    tell(
      job('stock', STOCK),
      job('colleague', DRIVER, { metadata: METADATA }),
      job('mine', DRIVER),
      job('other', 'python train.py'),
    );
    assert.deepEqual(others.all(), ['stock', 'colleague']);
    const [stock, colleague] = [others.snapshot('stock'), others.snapshot('colleague')];
    assert.ok(stock && colleague);
    assert.deepEqual([stock.benchmark, stock.modelId, stock.status, stock.origin], ['gsm8k', 'm', 'running', 'stock']);
    assert.match(originWords(stock), /elsewhere with the stock launcher/);
    assert.deepEqual(
      [colleague.benchmark, colleague.modelId, colleague.origin],
      ['word_problems', 'practice', 'window'],
    );
    assert.match(originWords(colleague), /by ada in another Shardboard window/);
    assert.deepEqual(asked, []);
  });

  it('go when Ray does not know them any more', () => {
    tell(job('stock', STOCK));
    jobs.clear();
    others.see([]);
    assert.deepEqual(others.all(), []);
  });

  it('of the stock launcher are followed by their tasks while somebody looks, and no longer', async () => {
    tell(job('stock', STOCK));
    tasks = [
      { id: '1', attempt: 0, name: 'run_shard', state: 'FINISHED' },
      { id: '2', attempt: 0, name: 'run_shard', state: 'RUNNING' },
    ];
    const look = others.look('stock');
    const run = await until('stock', ({ shardCounts }) => shardCounts !== null);
    assert.equal(statusSentence(run), 'Running, shards: 1 of 4 finished, 1 running, 2 waiting');
    jobs.clear();
    others.see([]);
    assert.deepEqual(others.all(), ['stock'], 'somebody looks at it');
    look.dispose();
    while (others.all().length > 0) {
      await new Promise(setImmediate);
      others.see([]);
    }
    assert.deepEqual(errors, []);
  });

  it('of the stock launcher are not called complete because Ray says succeeded', async () => {
    tell(job('stock', `${STOCK} -o ./relative`, { status: 'SUCCEEDED', endedAt: 2 }));
    others.look('stock');
    const run = await until('stock', ({ endedAt }) => endedAt !== null);
    assert.deepEqual([run.status, statusSentence(run)], ['partial', 'Ended, result not known']);
    assert.match(run.message ?? '', /not on this machine/);
  });

  it('of another window are followed with every event, also one that was not seen before', async () => {
    jobs.set('colleague', job('colleague', DRIVER, { metadata: METADATA }));
    ray.set('colleague', { status: 'RUNNING', log: startLine(4, 2) + answersLine(0, 0, 2) });
    others.look('colleague');
    const half = await until('colleague', ({ answered }) => answered === 2);
    assert.deepEqual([half.status, half.expected, half.outputFolder], ['running', 4, '/results/run-1']);
    ray.set('colleague', {
      status: 'SUCCEEDED',
      log: startLine(4, 2) + answersLine(0, 0, 2) + answersLine(1, 2, 4) + endLine(4),
    });
    jobs.set('colleague', job('colleague', DRIVER, { metadata: METADATA, status: 'SUCCEEDED' }));
    assert.equal((await until('colleague', ({ status }) => status === 'complete')).answered, 4);
  });

  it('are stopped by their own id', async () => {
    tell(job('stock', STOCK));
    await others.cancel('stock');
    assert.deepEqual(ray.stopped, ['stock']);
  });
});
