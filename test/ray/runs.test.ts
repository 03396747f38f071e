/** Whole runs on a real Ray cluster with the real evaluator, through the same parts that VS Code uses, without VS Code. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createRuns, type NewRun, type Runs } from '../../src/benchmark/runs';
import { type ClusterService, createClusterService } from '../../src/cluster/service';
import { hasEnded, type RunSnapshot } from '../../src/protocol/runSnapshot';
import { startEndpoint, type TestEndpoint, type TestEndpointOptions } from '../support/endpoint';
import { testPython } from '../support/testPython';
import { watcherProgram } from '../support/watcherProgram';

const CANARY = 'sk-CANARY-5f1d9c';

describe('runs on a real cluster', () => {
  let folder: string;
  let cluster: ClusterService;
  let runs: Runs;
  const endpoints: TestEndpoint[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shardboard-real-'));
    cluster = createClusterService({
      storageFolder: join(folder, 'storage'),
      resolvePython: async () => testPython(),
      watcher: watcherProgram,
      joined: { load: async () => undefined, save: async () => undefined, forget: async () => undefined },
    });
    runs = createRuns({
      storageFolder: join(folder, 'runs'),
      driverFolder: join(process.cwd(), 'driver'),
      clientFor: () => cluster.client(),
      isClusterKnown: () => true,
      logError: (message) => console.error(message),
    });
    await cluster.start();
  });
  after(async () => {
    runs.dispose();
    await runs.flush();
    await cluster.stop();
    cluster.dispose();
    await Promise.all(endpoints.map((endpoint) => endpoint.close()));
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  const endpoint = async (options: TestEndpointOptions = {}): Promise<TestEndpoint> => {
    const started = await startEndpoint(options);
    endpoints.push(started);
    return started;
  };

  const submit = async (choices: Partial<NewRun> & { modelUrl: string }): Promise<string> => {
    const state = cluster.state();
    const client = cluster.client();
    assert.ok(state.kind === 'running' && client);
    const run: NewRun = {
      benchmark: { file: join(process.cwd(), 'test', 'fixtures', 'benchmarks', 'tiny.py'), name: 'tiny' },
      shards: 3,
      repeats: 2,
      maxProblems: null,
      modelId: 'test',
      key: { source: 'none' },
      requestsInFlight: 2,
      resultsFolder: join(folder, 'results'),
      ...choices,
    };
    return await runs.submit(run, { name: 'local cluster', sessionName: state.sessionName, startedHere: true, client });
  };

  const until = (id: string, isSo: (run: RunSnapshot) => boolean): Promise<RunSnapshot> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const run = runs.snapshot(id);
        if (run && (isSo(run) || hasEnded(run.status))) {
          subscription.dispose();
          if (isSo(run)) {
            resolve(run);
          } else {
            reject(new Error(`The run ended as ${run.status}: ${run.message}\n${runs.log(id)}`));
          }
        }
      };
      const subscription = runs.onDidChange(look);
      look();
    });
  const untilEnded = (id: string): Promise<RunSnapshot> => until(id, (run) => hasEnded(run.status));

  it('gives the merged score, the bundle on disk says the same, and the key is nowhere', async () => {
    const model = await endpoint({ key: CANARY });
    const id = await submit({ modelUrl: model.url, key: { source: 'value', value: CANARY } });
    const run = await untilEnded(id);
    assert.deepEqual([run.status, run.answered, run.expected], ['complete', 24, 24], run.message ?? '');
    assert.equal(run.scores?.['pass@1']?.value, 1);
    assert.deepEqual(
      run.shards.map(({ start, end, phase }) => [start, end, phase]),
      [
        [0, 4, 'done'],
        [4, 8, 'done'],
        [8, 12, 'done'],
      ],
    );
    const bundle = JSON.parse(await readFile(run.bundlePath ?? '', 'utf8'));
    assert.deepEqual(bundle.benchmark.scores['pass@1'], run.scores?.['pass@1']);
    assert.equal(bundle.n_results, 24);
    // Each question twice, one for each repeat, and none more.
    assert.deepEqual(
      new Set([...model.asked].filter(([question]) => /^What is/.test(question)).map(([, times]) => times)),
      new Set([2]),
    );

    const client = cluster.client();
    const told = JSON.stringify([await client?.jobs(), await client?.jobLogs(id)]);
    assert.ok(!told.includes(CANARY), "Ray's API tells the key");
    // The key's own file goes right after the run has ended.
    while ((await readdir(join(folder, 'runs', 'keys'))).length > 0) {
      await new Promise(setImmediate);
    }
    assert.equal(await filesHolding(folder, CANARY), '', 'a file of the run holds the key');
    assert.equal(await filesHolding(await rayFolder(folder), CANARY), '', "a file of Ray's holds the key");
  });

  it('says that the endpoint failed, and gives no score, when nobody answers there', async () => {
    const id = await submit({ modelUrl: 'http://127.0.0.1:9/v1' });
    const run = await untilEnded(id);
    assert.deepEqual([run.status, run.reason, run.scores], ['failed', 'endpoint', null], run.message ?? '');
    assert.match(run.message ?? '', /127\.0\.0\.1:9/);
    assert.doesNotMatch(run.message ?? '', /Traceback|Error\(/);
  });

  it('says that the key is wrong before a question is asked', async () => {
    const model = await endpoint({ key: 'right' });
    const id = await submit({ modelUrl: model.url, key: { source: 'value', value: 'wrong' } });
    const run = await untilEnded(id);
    assert.deepEqual([run.status, run.reason], ['failed', 'endpoint']);
    assert.match(run.message ?? '', /key/i);
    assert.equal(model.asked.size, 0);
    assert.doesNotMatch(run.message ?? '', /wrong/);
  });

  it('refuses more shards than problems in a sentence', async () => {
    const model = await endpoint();
    const id = await submit({ modelUrl: model.url, shards: 13 });
    const run = await untilEnded(id);
    assert.deepEqual([run.status, run.reason], ['failed', 'request'], run.message ?? '');
    assert.match(run.message ?? '', /12 problems/);
    assert.equal([...model.asked.keys()].filter((question) => /^What is/.test(question)).length, 0);
  });

  it('counts answers that failed at the endpoint, and calls the run partial', async () => {
    const model = await endpoint({ fail: { status: 404, when: (question) => question === 'What is 5 + 6?' } });
    const id = await submit({ modelUrl: model.url, repeats: 1 });
    const run = await untilEnded(id);
    assert.deepEqual([run.status, run.endpointErrors, run.answered], ['partial', 1, 12], run.message ?? '');
  });

  it('goes on from the answers on disk when a worker is killed', async () => {
    const model = await endpoint({ latencyMs: 200 });
    const id = await submit({ modelUrl: model.url, shards: 1, requestsInFlight: 1 });
    await until(id, (run) => run.answered >= 4);
    model.hold();
    await model.held(1);
    process.kill(shardWorker(), 'SIGKILL');
    model.release();
    const run = await untilEnded(id);
    assert.deepEqual([run.status, run.answered, run.shards[0]?.attempt], ['complete', 24, 1], run.message ?? '');
    const askedTooOften = [...model.asked].filter(([question, times]) => /^What is/.test(question) && times > 2);
    assert.ok(askedTooOften.length <= 1, `asked again: ${JSON.stringify(askedTooOften)}`);
  });

  it('stops a run that is cancelled, and leaves no shard running', async () => {
    const model = await endpoint();
    model.hold();
    const id = await submit({ modelUrl: model.url, shards: 1 });
    await model.held(1);
    await runs.cancel(id);
    const run = await untilEnded(id);
    assert.deepEqual([run.status, run.scores], ['stopped', null], run.message ?? '');
    assert.equal(run.shards[0]?.phase, 'failed');
  });

  it('says that the run is lost when the cluster is gone in the middle of it', async () => {
    const model = await endpoint();
    model.hold();
    const id = await submit({ modelUrl: model.url });
    await model.held(1);
    await cluster.stop();
    const run = await until(id, ({ status }) => status === 'lost' || status === 'stopped');
    assert.match(run.message ?? '', /kept in/);
    assert.equal(cluster.state().kind, 'none');
  });
});

/** The one process that asks. */
function shardWorker(): number {
  const line = execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .find((entry) => /^\s*\d+ ray::Asker/.test(entry));
  assert.ok(line, 'no process asks');
  return Number(line.trim().split(' ')[0]);
}

/** Where the cluster keeps its sessions and logs. */
async function rayFolder(folder: string): Promise<string> {
  return JSON.parse(await readFile(join(folder, 'storage', 'cluster.json'), 'utf8')).folder;
}

/** Files below the folder that hold the text, one a line. */
async function filesHolding(folder: string, text: string): Promise<string> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && (await readFile(path, 'latin1').catch(() => '')).includes(text)) {
      found.push(path);
    }
  }
  return found.join('\n');
}
