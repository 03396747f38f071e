import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { strFromU8, unzipSync } from 'fflate';
import { createRuns, type NewRun, type Runs } from '../../src/benchmark/runs';
import { EVENT_MARKER } from '../../src/protocol/driverEvents';
import type { RunSnapshot } from '../../src/protocol/runSnapshot';
import { RayError } from '../../src/ray/rayError';
import { createFakeRay, type FakeRay } from '../support/fakeRay';

const line = (event: object): string => `${EVENT_MARKER}${JSON.stringify({ v: 2, t: 1, ...event })}\n`;

const START = line({
  type: 'start',
  benchmark: 'word_problems',
  problems: 2,
  repeats: 1,
  ranges: [[0, 2]],
  folder: '/results/run',
  evaluator: '0.3.0',
  ray: '2.60.0',
  python: '3.12.1',
});
const HALF = line({ type: 'answers', shard: 0, attempt: 0, answers: [[0, 5, 0, 1, 50, 10, 'ok']] });
const END = line({
  type: 'end',
  outcome: 'complete',
  message: 'All 2 answers are there.',
  answered: 2,
  expected: 2,
  endpointErrors: 0,
  judgeErrors: 0,
  truncated: 0,
  empty: 0,
  missingShards: [],
});

describe('the runs', () => {
  let folder: string;
  let ray: FakeRay;
  let runs: Runs;
  let isUp: boolean;
  let isGone: boolean;
  let startedHere: boolean;
  let errors: string[];

  const open = (): Runs =>
    createRuns({
      storageFolder: join(folder, 'runs'),
      driverFolder: join(folder, 'driver'),
      clientFor: (session) => (isUp && session === 'session_1' ? ray.client : undefined),
      isClusterKnown: () => isGone,
      logError: (message) => errors.push(message),
    });

  const chosen = (): NewRun => ({
    benchmark: 'gsm8k',
    shards: 1,
    repeats: 1,
    maxProblems: null,
    modelUrl: 'http://127.0.0.1:1/v1',
    modelId: 'practice',
    key: { source: 'value', value: 'sk-CANARY-1234' },
    requestsInFlight: 4,
    resultsFolder: join(folder, 'results'),
  });
  const submit = (): Promise<string> =>
    runs.submit(chosen(), { name: 'local cluster', sessionName: 'session_1', startedHere, client: ray.client });

  const noKeyIsLeft = async (): Promise<void> => {
    while ((await readdir(join(folder, 'runs', 'keys'))).length > 0) {
      await new Promise(setImmediate);
    }
  };

  const until = async (id: string, isSo: (run: RunSnapshot) => boolean): Promise<RunSnapshot> =>
    await new Promise((resolve) => {
      const look = (): void => {
        const run = runs.snapshot(id);
        if (run && isSo(run)) {
          subscription.dispose();
          resolve(run);
        }
      };
      const subscription = runs.onDidChange(look);
      look();
    });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shardboard-runs-'));
    await mkdir(join(folder, 'driver', 'shardboard_driver'), { recursive: true });
    await writeFile(join(folder, 'driver', 'shardboard_driver', '__main__.py'), '');
    ray = createFakeRay();
    isUp = true;
    isGone = false;
    startedHere = true;
    errors = [];
    runs = open();
  });
  afterEach(async () => {
    runs.dispose();
    await runs.flush();
    // The last save of a run that has just ended may still be on its way.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  it('follows a run from the first answer to the end, and keeps its log', async () => {
    const id = await submit();
    ray.set(id, { status: 'RUNNING', log: `hello\n${START}${HALF}` });
    const half = await until(id, (run) => run.answered === 1);
    assert.deepEqual([half.status, half.expected], ['running', 2]);
    ray.set(id, { status: 'SUCCEEDED', log: `hello\n${START}${HALF}${END}` });
    const done = await until(id, (run) => run.status === 'complete');
    assert.equal(done.message, 'All 2 answers are there.');
    assert.equal(runs.log(id), 'hello\n');
    assert.deepEqual(runs.active(), []);
  });

  it('is run by the Python that runs Ray, when the cluster tells it', async () => {
    const cluster = { name: 'other', sessionName: 'session_1', startedHere: false, client: ray.client };
    await runs.submit(chosen(), { ...cluster, python: '/opt/ray/bin/python' });
    await runs.submit(chosen(), { ...cluster, python: "/home/o'neill/my env/bin/python" });
    await runs.submit({ ...chosen(), bringsEvaluator: true }, { ...cluster, python: '/opt/ray/bin/python' });
    await runs.submit(chosen(), cluster);
    assert.deepEqual(
      ray.submitted.map(({ entrypoint }) => entrypoint.replace(' -u -m shardboard_driver request.json', '')),
      ['/opt/ray/bin/python', "'/home/o'\\''neill/my env/bin/python'", 'python', 'python'],
    );
  });

  it('brings the evaluator along only when it is told to', async () => {
    await submit();
    const cluster = { name: 'other', sessionName: 'session_1', startedHere: false, client: ray.client };
    await runs.submit({ ...chosen(), bringsEvaluator: true }, cluster);
    assert.deepEqual(
      ray.submitted.map(({ runtimeEnv }) => runtimeEnv.packages),
      [[], ['nemo-evaluator[ray,stats]~=0.3.0']],
    );
  });

  it("does not wait again for the driver's last word when it came before the job's end", async () => {
    const id = await submit();
    ray.set(id, { status: 'RUNNING', log: START + HALF + END });
    await until(id, (run) => run.answered === 1);
    const logsRead = ray.logsRead();
    ray.set(id, { status: 'SUCCEEDED', log: START + HALF + END });
    await until(id, (run) => run.status === 'complete');
    // One or two looks while it runs, one at its end; waiting for a last word would read it ten times more.
    assert.ok(ray.logsRead() - logsRead <= 3, `the log was read ${ray.logsRead() - logsRead} times more`);
  });

  it("keeps the commit of the user's own benchmark", async () => {
    const benchmarks = join(folder, 'benchmarks');
    await mkdir(benchmarks);
    await writeFile(join(benchmarks, 'words.py'), '# words');
    const git = (...args: string[]) => promisify(execFile)('git', ['-C', benchmarks, ...args]);
    await git('init', '--quiet');
    await git('add', '.');
    await git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '--quiet', '-m', 'Words');
    const commit = (await git('rev-parse', 'HEAD')).stdout.trim();
    await writeFile(join(benchmarks, 'words.py'), '# other words');
    const id = await runs.submit(
      { ...chosen(), benchmark: { file: join(benchmarks, 'words.py'), name: 'words' } },
      { name: 'local cluster', sessionName: 'session_1', startedHere, client: ray.client },
    );
    const { gitCommit, gitDirty } = runs.requestOf(id)?.request ?? {};
    assert.deepEqual([gitCommit, gitDirty], [commit, true]);
  });

  it('hands the keys of judge and dataset over in files of their own', async () => {
    const key = (value: string) => ({ source: 'value', value }) as const;
    const judge = { url: 'http://127.0.0.1:1/v1', modelId: 'judge', key: key('sk-CANARY-judge') };
    const id = await runs.submit(
      { ...chosen(), judge, datasetKey: key('hf-CANARY') },
      { name: 'local cluster', sessionName: 'session_1', startedHere, client: ray.client },
    );
    const packed = unzipSync(ray.packages[0] ?? new Uint8Array())['request.json'] ?? new Uint8Array();
    assert.doesNotMatch(strFromU8(packed), /CANARY/);
    const request = JSON.parse(strFromU8(packed));
    assert.equal(await readFile(request.judge.key.path, 'utf8'), 'sk-CANARY-judge');
    assert.equal(await readFile(request.datasetKey.path, 'utf8'), 'hf-CANARY');
    ray.set(id, { status: 'SUCCEEDED', log: START + END });
    await noKeyIsLeft();
  });

  it('hands the key over in a file that only the user can read, and removes it when the run has ended', async () => {
    const id = await submit();
    const keyFile = join(folder, 'runs', 'keys', `${id}.model`);
    assert.equal(await readFile(keyFile, 'utf8'), 'sk-CANARY-1234');
    assert.equal((await stat(keyFile)).mode & 0o777, 0o600);
    const request = unzipSync(ray.packages[0] ?? new Uint8Array())['request.json'];
    assert.deepEqual(JSON.parse(strFromU8(request ?? new Uint8Array())).key, { source: 'file', path: keyFile });
    ray.set(id, { status: 'SUCCEEDED', log: START + END });
    await until(id, (run) => run.status === 'complete');
    await noKeyIsLeft();
  });

  it('puts the key nowhere but in that file', async () => {
    const id = await submit();
    const record = await readFile(join(folder, 'runs', `${id}.json`), 'utf8');
    const everything = [record, JSON.stringify(ray.submitted), ...ray.packages.map((zip) => strFromU8(zip, true))];
    for (const file of Object.values(unzipSync(ray.packages[0] ?? new Uint8Array()))) {
      everything.push(strFromU8(file));
    }
    assert.ok(everything.every((text) => !text.includes('CANARY')));
  });

  it('finds a run again after a reload, shows at once what was last seen, and follows it to the end', async () => {
    const id = await submit();
    ray.set(id, { status: 'RUNNING', log: START + HALF });
    await until(id, (run) => run.answered === 1);
    runs.dispose();

    runs = open();
    await runs.restore();
    assert.equal(runs.latest(), id);
    ray.set(id, { status: 'SUCCEEDED', log: START + HALF + END });
    const done = await until(id, (run) => run.status === 'complete');
    assert.equal(done.answered, 1);
  });

  it('shows a finished run after a reload without asking anybody', async () => {
    const id = await submit();
    ray.set(id, { status: 'SUCCEEDED', log: `words\n${START}${END}` });
    await until(id, (run) => run.status === 'complete');
    runs.dispose();
    await runs.flush();
    isUp = false;
    isGone = true;

    runs = open();
    await runs.restore();
    assert.deepEqual([runs.snapshot(id)?.status, runs.log(id)], ['complete', 'words\n']);
  });

  it('keeps the state of a run whose cluster does not answer, and says since when', async () => {
    const id = await submit();
    ray.set(id, { status: 'RUNNING', log: START + HALF });
    await until(id, (run) => run.answered === 1);
    ray.fail(new RayError('unreachable', 'No answer.'));
    const silent = await until(id, (run) => run.lastHeardAt !== null);
    assert.deepEqual([silent.status, silent.answered], ['running', 1]);
    ray.fail(undefined);
    await until(id, (run) => run.lastHeardAt === null);
  });

  it('says that a run is lost when its cluster is gone', async () => {
    const id = await submit();
    ray.set(id, { status: 'RUNNING', log: START + HALF });
    await until(id, (run) => run.answered === 1);
    isUp = false;
    isGone = true;
    const lost = await until(id, (run) => run.status === 'lost');
    assert.equal(lost.answered, 1);
    assert.deepEqual(runs.active(), []);
    await noKeyIsLeft();
  });

  it('follows a run on again when the cluster that was left is joined again, and keeps its key until then', async () => {
    startedHere = false;
    const id = await submit();
    ray.set(id, { status: 'RUNNING', log: START + HALF });
    await until(id, (run) => run.answered === 1);
    isUp = false;
    isGone = true;
    const left = await until(id, (run) => run.status === 'lost');
    assert.match(left.message ?? '', /Join it again/);
    assert.deepEqual(await readdir(join(folder, 'runs', 'keys')), [`${id}.model`]);
    isUp = true;
    ray.set(id, { status: 'SUCCEEDED', log: START + HALF + END });
    await until(id, (run) => run.status === 'complete');
    await noKeyIsLeft();
  });

  it('removes a key that no run needs any more', async () => {
    runs.dispose();
    await mkdir(join(folder, 'runs', 'keys'), { recursive: true });
    await writeFile(join(folder, 'runs', 'keys', 'shardboard-forgotten.judge'), 'sk-CANARY');
    runs = open();
    await runs.restore();
    await noKeyIsLeft();
  });

  it('cancels the runs of a cluster that is to be stopped, and waits for their end', async () => {
    const id = await submit();
    ray.set(id, { status: 'RUNNING', log: START + HALF });
    await until(id, (run) => run.answered === 1);
    await runs.cancelOn('session_2');
    assert.deepEqual(ray.stopped, []);
    await runs.cancelOn('session_1');
    assert.deepEqual(ray.stopped, [id]);
    assert.equal(runs.snapshot(id)?.status, 'stopped');
  });

  it('shows and keeps what was last seen when the cluster is gone after a reload', async () => {
    const id = await submit();
    ray.set(id, { status: 'RUNNING', log: START + HALF });
    await until(id, (run) => run.answered === 1);
    runs.dispose();
    await runs.flush();
    isUp = false;
    isGone = true;
    for (let reload = 0; reload < 2; reload += 1) {
      runs = open();
      await runs.restore();
      const lost = await until(id, (run) => run.status === 'lost');
      assert.equal(lost.answered, 1);
      runs.dispose();
      await runs.flush();
    }
  });

  it('says so when the cluster does not know the job any more', async () => {
    const id = await submit();
    ray.fail(new RayError('not_found', 'No such job.'));
    const lost = await until(id, (run) => run.status === 'lost');
    assert.equal(lost.answered, 0);
    assert.match(lost.message ?? '', /somebody deleted it/);
  });

  it('says that the cluster is gone when another one answers at its address', async () => {
    const id = await submit();
    ray.become('session_2');
    ray.fail(new RayError('not_found', 'No such job.'));
    assert.match((await until(id, (run) => run.status === 'lost')).message ?? '', /is gone/);
  });

  it('keeps a request that Ray refused, with the reason, and no key', async () => {
    ray.refuse(new RayError('no_agent', 'The head node takes no jobs.'));
    await assert.rejects(submit(), /takes no jobs/);
    const id = runs.latest() ?? '';
    assert.deepEqual(
      [runs.snapshot(id)?.status, runs.snapshot(id)?.message],
      ['failed', 'The head node takes no jobs.'],
    );
    assert.deepEqual(await readdir(join(folder, 'runs', 'keys')), []);
  });

  it('sends nothing when its record cannot be written, and says why', async () => {
    runs.dispose();
    runs = createRuns({
      // A file where the records' folder should be.
      storageFolder: join(folder, 'driver', 'shardboard_driver', '__main__.py'),
      driverFolder: join(folder, 'driver'),
      clientFor: () => ray.client,
      isClusterKnown: () => true,
      logError: (message) => errors.push(message),
    });
    const none = { ...chosen(), key: { source: 'none' as const } };
    const cluster = { name: 'local cluster', sessionName: 'session_1', startedHere: true, client: ray.client };
    await assert.rejects(runs.submit(none, cluster), /EEXIST|ENOTDIR/);
    assert.deepEqual([runs.snapshot(runs.latest() ?? '')?.status, ray.submitted.length], ['failed', 0]);
  });

  it('cancels the job and nothing else', async () => {
    const id = await submit();
    await runs.cancel(id);
    assert.deepEqual(ray.stopped, [id]);
    assert.equal((await until(id, (run) => run.status === 'stopped')).endedAt, 2);
  });

  it('reports a damaged record and shows the others', async () => {
    const id = await submit();
    runs.dispose();
    await writeFile(join(folder, 'runs', 'shardboard-damaged.json'), '{"version":1');
    runs = open();
    await runs.restore();
    assert.deepEqual(runs.all(), [id]);
    assert.match(errors.join('\n'), /shardboard-damaged\.json/);
  });
});
