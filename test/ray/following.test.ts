/** Runs on a real cluster as others see them: after a reload, after a sleep, from another window, and without a dashboard. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { buildJobPackage, packagedBenchmarkName } from '../../src/benchmark/jobPackage';
import { createOtherRuns, type OtherRuns } from '../../src/benchmark/otherRuns';
import { createRuns, type NewRun, type Runs } from '../../src/benchmark/runs';
import { listProcesses } from '../../src/cluster/processes';
import { type ClusterService, createClusterService } from '../../src/cluster/service';
import { hasEnded, type RunSnapshot } from '../../src/protocol/runSnapshot';
import type { RayClient } from '../../src/ray/client';
import { statusSentence } from '../../src/results-page/words';
import { startEndpoint, type TestEndpoint } from '../support/endpoint';
import { projectRoot } from '../support/projectRoot';
import { testPython } from '../support/testPython';
import { watcherProgram } from '../support/watcherProgram';

const own = { file: join(projectRoot, 'test', 'fixtures', 'benchmarks', 'tiny.py'), name: 'tiny' };

describe('runs that are followed', () => {
  let folder: string;
  let cluster: ClusterService;
  let client: RayClient;
  let runs: Runs;
  let others: OtherRuns;
  let model: TestEndpoint;

  const openRuns = (): Runs =>
    createRuns({
      storageFolder: join(folder, 'runs'),
      driverFolder: join(projectRoot, 'driver'),
      clientFor: () => cluster.client(),
      isClusterKnown: () => true,
      logError: (message) => console.error(message),
    });

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shardboard-following-'));
    cluster = createClusterService({
      storageFolder: join(folder, 'storage'),
      resolvePython: async () => testPython(),
      watcher: watcherProgram,
      joined: { load: async () => undefined, save: async () => undefined, forget: async () => undefined },
    });
    await cluster.start();
    const started = cluster.client();
    assert.ok(started);
    client = started;
    runs = openRuns();
    others = createOtherRuns({
      cluster: () => ({ name: 'local cluster', sessionName: sessionName(), client }),
      isOwn: () => false,
      logError: (message) => console.error(message),
    });
    model = await startEndpoint({ latencyMs: 150 });
  });
  after(async () => {
    others.dispose();
    runs.dispose();
    await runs.flush();
    await cluster.stop();
    cluster.dispose();
    await model.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  function sessionName(): string {
    const state = cluster.state();
    assert.ok(state.kind === 'running');
    return state.sessionName;
  }

  const submit = (change: Partial<NewRun> = {}): Promise<string> =>
    runs.submit(
      {
        benchmark: own,
        shards: 2,
        repeats: 4,
        maxProblems: null,
        modelUrl: model.url,
        modelId: 'test',
        key: { source: 'none' },
        requestsInFlight: 2,
        resultsFolder: join(folder, 'results'),
        ...change,
      },
      { name: 'local cluster', sessionName: sessionName(), startedHere: true, client },
    );

  const until = (
    source: Pick<Runs, 'snapshot' | 'onDidChange'>,
    id: string,
    isSo: (run: RunSnapshot) => boolean,
  ): Promise<RunSnapshot> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const run = source.snapshot(id);
        if (run && (isSo(run) || hasEnded(run.status))) {
          subscription.dispose();
          if (isSo(run)) {
            resolve(run);
          } else {
            reject(new Error(`The run ended as ${run.status}: ${run.message}`));
          }
        }
      };
      const subscription = source.onDidChange(look);
      look();
    });
  const untilEnded = (source: Pick<Runs, 'snapshot' | 'onDidChange'>, id: string): Promise<RunSnapshot> =>
    until(source, id, ({ status }) => hasEnded(status));

  it('are seen by two windows at once, and found again after a crash in the middle', async () => {
    const id = await submit();
    const look = others.look(id);
    await until(others, id, ({ answered }) => answered > 0);
    await until(runs, id, ({ answered }) => answered > 8);
    // As in a crash: nothing is saved at the last moment.
    runs.dispose();

    runs = openRuns();
    await runs.restore();
    const [mine, theirs] = await Promise.all([untilEnded(runs, id), untilEnded(others, id)]);
    look.dispose();
    assert.deepEqual([mine.status, mine.answered, mine.rewardSum], ['complete', 48, 48], mine.message ?? '');
    assert.equal(theirs.origin, 'window');
    assert.equal(typeof theirs.submittedBy, 'string');
    const { origin, submittedBy, clusterName, submittedAt, ...same } = mine;
    assert.deepEqual({ ...theirs, origin, submittedBy, clusterName, submittedAt }, { ...same, ...mine });
  });

  it('lose nothing while their window sleeps, and are heard over the socket', async () => {
    const id = await submit();
    const state = cluster.state();
    assert.ok(state.kind === 'running');
    const program = join(projectRoot, 'out', 'test', 'support', 'followerProgram.cjs');
    const follower = spawn(process.execPath, [program, state.dashboardUrl, cluster.token() ?? '', id], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const told: { reads: number; run: RunSnapshot }[] = [];
    createInterface({ input: follower.stdout }).on('line', (line) => told.push(JSON.parse(line)));
    const exit = once(follower, 'exit');
    while (!told.some(({ run }) => run.answered > 0)) {
      await wait(20);
    }
    const heard = told.at(-1)?.run.answered ?? 0;
    follower.kill('SIGSTOP');
    await until(runs, id, ({ answered }) => answered >= Math.min(48, heard + 16));
    follower.kill('SIGCONT');
    const run = await untilEnded(runs, id);
    await exit;
    const last = told.at(-1);
    assert.deepEqual([last?.run.status, last?.run.answered, last?.run.rewardSum], ['complete', 48, 48]);
    assert.deepEqual(last?.run.shards, run.shards);
    // One look at first; the rest came over the socket, but for what was read when it was slow, and at the end.
    assert.ok((last?.reads ?? 0) <= 5, `the log was read ${last?.reads} times`);
  });

  it('of the stock launcher show how many shards are how far, and their score', async () => {
    const workingDir = await client.uploadPackage(
      await buildJobPackage({ driverFolder: join(projectRoot, 'driver'), request: '{}', own }),
    );
    const output = join(folder, 'stock');
    await client.submitJob({
      submissionId: 'from-a-terminal',
      entrypoint: `python -m nemo_evaluator.engine.ray_launcher --benchmark ${packagedBenchmarkName(own)} --shards 3 --repeats 2 --model-url ${model.url} --model-id test --api-key sk-CANARY-0123456789 --output-dir ${output}`,
      runtimeEnv: { workingDir, envVars: { PYTHONDONTWRITEBYTECODE: '' } },
      metadata: {},
    });
    others.see(await client.jobs());
    assert.deepEqual(
      [others.snapshot('from-a-terminal')?.origin, others.snapshot('from-a-terminal')?.modelId],
      ['stock', 'test'],
    );
    others.look('from-a-terminal');
    const running = await until(others, 'from-a-terminal', ({ shardCounts }) => (shardCounts?.running ?? 0) > 0);
    assert.match(statusSentence(running), /^Running, shards: \d of 3 finished/);
    const run = await untilEnded(others, 'from-a-terminal');
    assert.deepEqual(
      [run.status, run.answered, run.expected, run.rewardSum],
      ['complete', 24, 24, 24],
      run.message ?? '',
    );
    assert.equal(run.scores?.['pass@1']?.value, 1);
    assert.equal(JSON.parse(await readFile(run.bundlePath ?? '', 'utf8')).n_results, 24);
    assert.equal(run.shardCounts?.finished, 3);
    assert.ok(!JSON.stringify([run, others.log('from-a-terminal')]).includes('CANARY'));
  });

  it('are silent, and not lost, when the dashboard is killed', async () => {
    model.hold();
    const id = await submit();
    await model.held(1);
    await until(runs, id, ({ status, stage }) => status === 'running' && stage === 'asking');
    const { folder: rayFolder } = JSON.parse(await readFile(join(folder, 'storage', 'cluster.json'), 'utf8'));
    const heads = (await listProcesses()).filter(
      ({ commandLine }) => commandLine.includes(rayFolder) && /dashboard\/dashboard\.py/.test(commandLine),
    );
    assert.equal(heads.length, 1, 'one dashboard of this cluster runs');
    process.kill(heads[0]?.pid ?? 0, 'SIGKILL');
    const silent = await until(runs, id, ({ lastHeardAt }) => lastHeardAt !== null);
    assert.equal(silent.status, 'running');
    assert.match(silent.message ?? '', /Nothing answers at http:/);
    model.release();
  });
});
