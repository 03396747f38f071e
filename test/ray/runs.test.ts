/** Whole runs on a real Ray cluster with the real evaluator, through the same parts that VS Code uses, without VS Code. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Runs } from '../../src/benchmark/runs';
import type { ClusterService } from '../../src/cluster/service';
import { filesHolding, type RealRuns, startRealRuns, timesAsked } from '../support/realRuns';

const CANARY = 'sk-CANARY-5f1d9c';

/** Put below a benchmark file: every answer is half right. */
const HALF_SCORER = `
from nemo_evaluator.environments.registry import _REGISTRY
from nemo_evaluator.environments.base import VerifyResult

async def _half(self, response, expected, sandbox=None, **metadata):
    return VerifyResult(reward=0.5)

_REGISTRY["tiny"].verify = _half
`;

describe('runs on a real cluster', () => {
  let real: RealRuns;
  let folder: string;
  let cluster: ClusterService;
  let runs: Runs;

  before(async () => {
    real = await startRealRuns({ choices: { shards: 3, repeats: 2, requestsInFlight: 6 } });
    ({ folder, cluster, runs } = real);
  });
  after(() => real.close());

  const endpoint: RealRuns['endpoint'] = (options) => real.endpoint(options);
  const submit: RealRuns['submit'] = (choices) => real.submit(choices);
  const until: RealRuns['until'] = (id, isSo) => real.until(id, isSo);
  const untilEnded: RealRuns['untilEnded'] = (id) => real.untilEnded(id);

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
    assert.deepEqual(await filesHolding(folder, CANARY), [], 'a file of the run holds the key');
    assert.deepEqual(await filesHolding(await rayFolder(folder), CANARY), [], "a file of Ray's holds the key");
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

  it('ends within its budget of answers, as a partial run that goes on when it is taken up again', async () => {
    const model = await endpoint();
    const first = await untilEnded(await submit({ modelUrl: model.url, budget: { answers: 7 } }));
    assert.deepEqual([first.status, first.reason, first.answered], ['partial', 'budget', 7], first.message ?? '');
    assert.equal(timesAsked(model), 7);
    const whole = await untilEnded(await submit({ modelUrl: model.url, outputFolder: first.outputFolder }));
    assert.deepEqual([whole.status, whole.answered], ['complete', 24], whole.message ?? '');
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

  it('takes a cancelled run up again with other shards, and asks only what is missing', async () => {
    const model = await endpoint({ latencyMs: 100 });
    const first = await submit({ modelUrl: model.url, shards: 3, requestsInFlight: 2 });
    await until(first, (run) => run.answered >= 5);
    await runs.cancel(first);
    const stopped = await untilEnded(first);
    assert.equal(stopped.status, 'stopped', stopped.message ?? '');
    assert.ok(stopped.answered >= 5 && stopped.answered < 24);
    // What there is has been merged, under a name that nobody takes for the whole run.
    assert.match((await readdir(stopped.outputFolder)).join(' '), /partial-eval-/);

    const second = await submit({ modelUrl: model.url, shards: 5, outputFolder: stopped.outputFolder });
    const run = await untilEnded(second);
    assert.deepEqual([run.status, run.answered], ['complete', 24], run.message ?? '');
    const names = await readdir(run.outputFolder);
    assert.ok(names.some((name) => name.startsWith('eval-')) && !names.some((name) => name.startsWith('partial-')));
    // At most the two that were in flight when it was stopped are asked twice.
    const times = timesAsked(model);
    assert.ok(times <= 24 + 2, `${times} requests for 24 answers`);
  });

  it('grows a pilot into the whole benchmark, and pays for the new answers alone', async () => {
    const model = await endpoint();
    const pilot = await untilEnded(await submit({ modelUrl: model.url, shards: 1, repeats: 1, maxProblems: 4 }));
    assert.deepEqual([pilot.status, pilot.answered], ['complete', 4], pilot.message ?? '');
    const asked = timesAsked(model);
    const whole = await untilEnded(await submit({ modelUrl: model.url, outputFolder: pilot.outputFolder }));
    assert.deepEqual([whole.status, whole.answered], ['complete', 24], whole.message ?? '');
    assert.deepEqual([asked, timesAsked(model)], [4, 24]);
  });

  it('refuses to mix the answers of two models, and two runs in one folder at once', async () => {
    const model = await endpoint();
    const first = await untilEnded(await submit({ modelUrl: model.url, repeats: 1, shards: 1 }));
    const other = await untilEnded(
      await submit({ modelUrl: model.url, repeats: 1, modelId: 'another', outputFolder: first.outputFolder }),
    );
    assert.deepEqual([other.status, other.reason], ['failed', 'request']);
    assert.match(other.message ?? '', /other model/);

    model.hold();
    const going = await submit({ modelUrl: model.url, shards: 1 });
    await model.held(1);
    const folder = runs.snapshot(going)?.outputFolder ?? '';
    const late = await untilEnded(await submit({ modelUrl: model.url, shards: 1, outputFolder: folder }));
    model.release();
    assert.match(late.message ?? '', /Another run is writing/);
    assert.equal((await untilEnded(going)).status, 'complete');
  });

  it('scores the answers again with a changed scorer and no request', async () => {
    const model = await endpoint();
    const benchmarks = join(folder, 'benchmarks');
    await mkdir(benchmarks);
    const file = join(benchmarks, 'tiny.py');
    const source = await readFile(join(process.cwd(), 'test', 'fixtures', 'benchmarks', 'tiny.py'), 'utf8');
    await writeFile(file, source);
    const benchmark = { file, name: 'tiny' };
    const first = await untilEnded(await submit({ modelUrl: model.url, benchmark }));
    assert.equal(first.scores?.['pass@1']?.value, 1, first.message ?? '');
    const asked = JSON.stringify([...model.asked].filter(([question]) => /^What is/.test(question)));

    await writeFile(file, `${source}\n\n${HALF_SCORER}`);
    const mixed = await untilEnded(await submit({ modelUrl: model.url, benchmark, outputFolder: first.outputFolder }));
    assert.match(mixed.message ?? '', /other benchmark files/);
    const again = await untilEnded(
      await submit({ modelUrl: model.url, benchmark, outputFolder: first.outputFolder, task: 'score_again' }),
    );
    assert.deepEqual([again.status, again.answered], ['complete', 24], again.message ?? '');
    assert.deepEqual(
      Object.values(again.scores ?? {}).map(({ value }) => value),
      [0.5],
    );
    assert.equal(JSON.stringify([...model.asked].filter(([question]) => /^What is/.test(question))), asked);
    const bundle = JSON.parse(await readFile(again.bundlePath ?? '', 'utf8'));
    assert.equal(bundle.config.scored_again, true);
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
    let questions = 0;
    const model = await endpoint({
      misbehave: (question) => (/^What is/.test(question) && ++questions > 2 ? { kind: 'hang' } : undefined),
    });
    const id = await submit({ modelUrl: model.url });
    // With nothing answered there is nothing to keep, and a driver that is heard to the end says so.
    await until(id, ({ answered }) => answered === 2);
    await cluster.stop();
    const run = await until(id, ({ status }) => status === 'lost' || status === 'stopped');
    assert.match(run.message ?? '', /kept/);
    assert.equal(run.answered, 2);
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
