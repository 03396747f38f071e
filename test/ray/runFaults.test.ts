/** What goes wrong in the middle of a run, on a real Ray cluster: nothing that was paid for is lost, and it is said. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { request } from 'undici';
import type { Runs } from '../../src/benchmark/runs';
import { loadClusterRecord } from '../../src/cluster/clusterRecord';
import type { Misbehaviour, TestEndpoint } from '../support/endpoint';
import { filesHolding, type RealRuns, startRealRuns, timesAsked } from '../support/realRuns';

const QUESTIONS = 12;

describe('faults in the middle of a run', () => {
  let real: RealRuns;
  let folder: string;
  let runs: Runs;

  before(async () => {
    const choices = { shards: 2, repeats: 1, requestsInFlight: 4, requestTimeoutS: 2, attempts: 4 };
    real = await startRealRuns({ choices });
    ({ folder, runs } = real);
  });
  after(() => real.close());

  const endpoint: RealRuns['endpoint'] = (options) => real.endpoint(options);
  const submit: RealRuns['submit'] = (choices) => real.submit(choices);
  const until: RealRuns['until'] = (id, isSo) => real.until(id, isSo);
  const untilEnded: RealRuns['untilEnded'] = (id) => real.untilEnded(id);

  it('asks again whatever an endpoint does wrong once, and nothing else', async () => {
    const once: readonly Misbehaviour[] = [
      { kind: 'status', status: 429 },
      { kind: 'status', status: 429, headers: { 'retry-after': '1' } },
      { kind: 'status', status: 500 },
      { kind: 'status', status: 503 },
      { kind: 'hang' },
      { kind: 'reset' },
      { kind: 'cutOff' },
      { kind: 'body', body: '<html>Please log in</html>' },
      { kind: 'body', body: '{"choices": []}' },
      { kind: 'body', body: '{"choices": [{"mess' },
    ];
    const model = await endpoint({
      misbehave: (question, time) => (time === 1 ? once[numberIn(question)] : undefined),
    });
    const run = await untilEnded(await submit({ modelUrl: model.url }));
    assert.deepEqual([run.status, run.answered, run.rewardSum], ['complete', QUESTIONS, QUESTIONS], run.message ?? '');
    const times = Array.from({ length: QUESTIONS }, (_, n) => model.asked.get(`What is ${n} + ${n + 1}?`));
    assert.deepEqual(times, [...once.map(() => 2), 1, 1]);
  });

  it('counts what stays wrong, and never calls the run complete', async () => {
    const always: Readonly<Record<number, Misbehaviour>> = {
      0: { kind: 'status', status: 400 },
      1: { kind: 'status', status: 500 },
      2: { kind: 'answer', content: '' },
      3: { kind: 'answer', content: 'The answer is', finishReason: 'length' },
    };
    const model = await endpoint({ misbehave: (question) => always[numberIn(question)] });
    const run = await untilEnded(await submit({ modelUrl: model.url }));
    assert.deepEqual(
      [run.status, run.reason, run.answered, run.endpointErrors, run.empty, run.truncated],
      ['partial', 'endpoint', QUESTIONS, 2, 1, 1],
      run.message ?? '',
    );
    assert.match(run.message ?? '', /2 of 12 answers failed at the endpoint and count as 0/);
    // What never gets better is tried twice, what may get better as often as it was asked for.
    assert.deepEqual([model.asked.get('What is 0 + 1?'), model.asked.get('What is 1 + 2?')], [2, 4]);
    const names = await readdir(run.outputFolder);
    assert.ok(
      names.some((name) => name.startsWith('partial-eval-')) && !names.some((name) => name.startsWith('eval-')),
    );

    // The endpoint is mended: only what failed is asked again.
    const mended = await endpoint();
    const again = await untilEnded(await submit({ modelUrl: mended.url, outputFolder: run.outputFolder }));
    assert.deepEqual(
      [again.status, again.answered, again.endpointErrors],
      ['complete', QUESTIONS, 0],
      again.message ?? '',
    );
    assert.deepEqual(questionsIn(mended), ['What is 0 + 1?', 'What is 1 + 2?']);
  });

  it('does not know a model that the endpoint does not know', async () => {
    const model = await endpoint({ misbehave: () => ({ kind: 'status', status: 404 }) });
    const run = await untilEnded(await submit({ modelUrl: model.url }));
    assert.deepEqual([run.status, run.reason, questionsIn(model)], ['failed', 'endpoint', []]);
    assert.match(run.message ?? '', /does not know the model test/);
  });

  it('gives up an endpoint that dies in the middle, and keeps what had come', async () => {
    const model = await endpoint({ latencyMs: 300 });
    const id = await submit({ modelUrl: model.url, requestsInFlight: 2, attempts: 12 });
    await until(id, (run) => run.answered >= 3);
    await model.close();
    const run = await untilEnded(id);
    assert.deepEqual([run.status, run.reason], ['partial', 'endpoint'], run.message ?? '');
    assert.ok(run.answered >= 3 && run.answered < QUESTIONS);
    const back = await endpoint();
    const whole = await untilEnded(await submit({ modelUrl: back.url, outputFolder: run.outputFolder }));
    assert.deepEqual([whole.status, whole.answered], ['complete', QUESTIONS], whole.message ?? '');
    assert.equal(questionsIn(back).length, QUESTIONS - run.answered);
  });

  for (const [moment, answered] of [
    ['before the first answer', 0],
    ['in the middle', 5],
    ['near the end', 9],
  ] as const) {
    it(`goes on when the process that asks is killed ${moment}`, async () => {
      const model = await endpoint({ latencyMs: 400 });
      const id = await submit({ modelUrl: model.url, requestsInFlight: 1, processesAtMost: 1 });
      await until(id, (run) => run.answered >= answered && run.shards.some(({ phase }) => phase === 'running'));
      model.hold();
      await model.held(1);
      process.kill(processOf('ray::(Asker|shard)'), 'SIGKILL');
      model.release();
      const run = await untilEnded(id);
      assert.deepEqual([run.status, run.answered], ['complete', QUESTIONS], run.message ?? '');
      const twice = [...model.asked].filter(([question, times]) => /^What is/.test(question) && times > 1);
      assert.ok(twice.length <= 1, `asked again: ${JSON.stringify(twice)}`);
    });
  }

  it('says that the driver was killed, and goes on from what it had', async () => {
    const model = await endpoint({ latencyMs: 300 });
    const id = await submit({ modelUrl: model.url, requestsInFlight: 2 });
    await until(id, (run) => run.answered >= 4);
    model.hold();
    await model.held(2);
    process.kill(processOf('python\\S* -u -m shardboard_driver'), 'SIGKILL');
    model.release();
    const run = await untilEnded(id);
    assert.equal(run.status, 'failed');
    assert.match(run.message ?? '', /without a last word/);
    const whole = await untilEnded(await submit({ modelUrl: model.url, outputFolder: run.outputFolder }));
    assert.deepEqual([whole.status, whole.answered], ['complete', QUESTIONS], whole.message ?? '');
    assert.ok(timesAsked(model) <= QUESTIONS + 2, `${timesAsked(model)} requests for ${QUESTIONS} answers`);
  });

  it('keeps the answer that a scorer cannot score, and scores it when the scorer is mended', async () => {
    const model = await endpoint();
    const source = await readFile(join(process.cwd(), 'test', 'fixtures', 'benchmarks', 'tiny.py'), 'utf8');
    const benchmark = await ownBenchmark(
      'scorer',
      source.replace('    return answer_line', `${BROKEN_SCORER}    return answer_line`),
    );
    const run = await untilEnded(await submit({ modelUrl: model.url, benchmark }));
    assert.deepEqual([run.status, run.reason], ['partial', 'benchmark'], run.message ?? '');
    assert.match(run.message ?? '', /ValueError: cannot read 11/);
    assert.doesNotMatch(run.message ?? '', /Traceback/);

    await writeFile(benchmark.file, source);
    const scored = await untilEnded(
      await submit({ modelUrl: model.url, benchmark, outputFolder: run.outputFolder, task: 'score_again' }),
    );
    const whole = await untilEnded(await submit({ modelUrl: model.url, benchmark, outputFolder: scored.outputFolder }));
    assert.deepEqual(
      [whole.status, whole.answered, whole.rewardSum],
      ['complete', QUESTIONS, QUESTIONS],
      whole.message ?? '',
    );
    assert.ok([...model.asked].every(([question, times]) => !/^What is/.test(question) || times === 1));
  });

  it('waits for a judge that is down, and judges the stored answers when it is back', async () => {
    const model = await endpoint();
    let isDown = true;
    const judgeModel = await endpoint({
      misbehave: (question) =>
        isDown && /Score the following/.test(question)
          ? { kind: 'status', status: 400 }
          : { kind: 'answer', content: '{"score": 5}' },
    });
    const benchmark = await ownBenchmark('judged', JUDGED);
    const judge = { url: judgeModel.url, modelId: 'judge', key: { source: 'none' } } as const;
    const bare = await untilEnded(await submit({ modelUrl: model.url, benchmark }));
    assert.deepEqual([bare.status, bare.scores], ['failed', null]);
    assert.match(bare.message ?? '', /judge model/);
    const run = await untilEnded(
      await submit({ modelUrl: model.url, benchmark, judge, outputFolder: bare.outputFolder }),
    );
    assert.equal(run.status, 'partial', run.message ?? '');
    assert.match(run.message ?? '', /could not be judged/);
    isDown = false;
    const whole = await untilEnded(
      await submit({ modelUrl: model.url, benchmark, judge, outputFolder: bare.outputFolder }),
    );
    assert.deepEqual([whole.status, whole.rewardSum], ['complete', 3], whole.message ?? '');
    // Each question was paid for once, whatever became of the judge.
    assert.deepEqual(
      [...model.asked].filter(([question]) => /^Say/.test(question)).map(([, times]) => times),
      [1, 1, 1],
    );
  });

  it('has the keys nowhere that others can read, also when a process was killed', async () => {
    const keys = { model: 'sk-CANARY-model-1f', judge: 'sk-CANARY-judge-2e', dataset: 'hf-CANARY-dataset-3d' };
    const model = await endpoint({ key: keys.model, latencyMs: 300 });
    const judgeModel = await endpoint({ key: keys.judge });
    const id = await submit({
      modelUrl: model.url,
      requestsInFlight: 1,
      processesAtMost: 1,
      key: { source: 'value', value: keys.model },
      judge: { url: judgeModel.url, modelId: 'judge', key: { source: 'value', value: keys.judge } },
      datasetKey: { source: 'value', value: keys.dataset },
    });
    await until(id, (run) => run.answered >= 3);
    // The driver has read them, and removed their files.
    assert.deepEqual(await filesHolding(join(folder, 'runs'), 'CANARY'), []);
    assert.deepEqual(await processesSaying('CANARY'), []);
    process.kill(processOf('ray::(Asker|shard)'), 'SIGKILL');
    const run = await untilEnded(id);
    assert.deepEqual([run.status, run.answered], ['complete', QUESTIONS], run.message ?? '');
    assert.deepEqual([...model.keys], [`Bearer ${keys.model}`]);
    const record = await loadClusterRecord(join(folder, 'storage'));
    const told: string[] = [JSON.stringify(run), runs.log(id)];
    for (const path of ['jobs/', 'v0/tasks?detail=1&limit=1000', 'v0/actors?detail=1&limit=1000', `jobs/${id}/logs`]) {
      const { body } = await request(`${record?.dashboardUrl}/api/${path}`, {
        headers: { authorization: `Bearer ${(await readFile(record?.tokenFile ?? '', 'utf8')).trim()}` },
      });
      told.push(await body.text());
    }
    assert.ok(
      told.every((text) => !text.includes('CANARY')),
      "a key is in what Ray's API or the run tells",
    );
    assert.deepEqual(await filesHolding(folder, 'CANARY'), []);
    assert.deepEqual(await filesHolding(record?.folder ?? '', 'CANARY'), []);
  });

  it('says why a dataset does not load', async () => {
    const model = await endpoint();
    const benchmark = await ownBenchmark('gone', DATASET_GONE);
    const run = await untilEnded(await submit({ modelUrl: model.url, benchmark }));
    assert.deepEqual([run.status, run.reason, questionsIn(model)], ['failed', 'benchmark', []]);
    assert.match(run.message ?? '', /FileNotFoundError: no such dataset/);
    assert.doesNotMatch(run.message ?? '', /Traceback/);
  });

  it('stops when the disk is full, and goes on when there is room', async (test) => {
    const small = join(folder, 'small');
    await mkdir(small);
    if (!mountSmall(small, '60k')) {
      test.skip('a small disk can only be made by root');
      return;
    }
    try {
      const model = await endpoint();
      const run = await untilEnded(
        await submit({ modelUrl: model.url, repeats: 5, resultsFolder: small, requestsInFlight: 2 }),
      );
      assert.deepEqual([run.status, run.reason], ['failed', 'disk'], run.message ?? '');
      assert.match(run.message ?? '', /No space left on device.*Make room and run again/);
      const paid = timesAsked(model);
      execFileSync('mount', ['-o', 'remount,size=10m', small]);
      const whole = await untilEnded(
        await submit({ modelUrl: model.url, repeats: 5, resultsFolder: small, outputFolder: run.outputFolder }),
      );
      assert.deepEqual([whole.status, whole.answered], ['complete', 5 * QUESTIONS], whole.message ?? '');
      // What could not be written is the only thing that is paid for again.
      assert.ok(paid > 0 && timesAsked(model) <= 5 * QUESTIONS + 4, `${timesAsked(model)} requests`);
    } finally {
      // Processes of the run may still hold it for a moment.
      execFileSync('umount', ['--lazy', small]);
    }
  });

  async function ownBenchmark(name: string, source: string): Promise<{ file: string; name: string }> {
    const place = join(folder, `benchmark-${name}`);
    await mkdir(place);
    await writeFile(join(place, 'own.py'), source);
    return { file: join(place, 'own.py'), name: 'tiny' };
  }
});

const BROKEN_SCORER = `    if sample.target == "11":
        raise ValueError("cannot read 11")
`;

const JUDGED = `
from nemo_evaluator.environments.custom import benchmark, scorer
from nemo_evaluator.scoring import ScorerInput
from nemo_evaluator.scoring.judge import needs_judge


@benchmark(name="tiny", dataset=lambda: [{"question": f"Say {n}", "answer": str(n)} for n in range(3)],
           target_field="answer", prompt="{question}")
@scorer
def score(sample: ScorerInput) -> dict[str, object]:
    return needs_judge(sample)
`;

const DATASET_GONE = `
from nemo_evaluator.environments.custom import benchmark, scorer


def load() -> list[dict[str, str]]:
    raise FileNotFoundError("no such dataset")


@benchmark(name="tiny", dataset=load, target_field="answer", prompt="{question}")
@scorer
def score(sample) -> dict[str, object]:
    return {"correct": True}
`;

function numberIn(question: string): number {
  return /^What is/.test(question) ? Number(/\d+/.exec(question)?.[0]) : Number.NaN;
}

/** What of the benchmark was asked, in order of the alphabet. */
function questionsIn(model: TestEndpoint): string[] {
  return [...model.asked.keys()].filter((question) => /^What is/.test(question)).sort();
}

/** Processes whose command line or environment holds the text. */
async function processesSaying(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const id of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    for (const file of ['cmdline', 'environ']) {
      if ((await readFile(`/proc/${id}/${file}`, 'latin1').catch(() => '')).includes(text)) {
        found.push(`${id} ${file}`);
      }
    }
  }
  return found;
}

/** A process of the one run that goes on. */
function processOf(command: string): number {
  const line = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .find((entry) => new RegExp(`^\\s*\\d+ \\S*${command}`).test(entry));
  assert.ok(line, `no process is ${command}`);
  return Number(line.trim().split(' ')[0]);
}

function mountSmall(place: string, size: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', place]).status === 0;
}
