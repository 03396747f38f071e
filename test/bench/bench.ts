/**
 * `npm run bench`: how long a run takes, beside the evaluator's own launcher on the same cluster, the same practice model
 * and in turns, as ratios. Single times depend on the machine; the ratio of two runs side by side depends on it much less.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import * as v from 'valibot';
import { buildJobPackage, packagedBenchmarkName } from '../../src/benchmark/jobPackage';
import { createPracticeModel, PRACTICE_MODEL_ID } from '../../src/benchmark/practiceModel';
import { createRuns } from '../../src/benchmark/runs';
import { createClusterService } from '../../src/cluster/service';
import { hasEnded } from '../../src/protocol/runSnapshot';
import type { RayClient } from '../../src/ray/client';
import { testPython } from '../support/testPython';
import { watcherProgram } from '../support/watcherProgram';

const PAIRS = Number(process.env.BENCH_PAIRS ?? 3);
const LATENCY_MS = 50;
const SHARDS = 8;
/** What the stock launcher has in flight: eight a shard, and on two cores two shards at once. It cannot be told otherwise. */
const STOCK_IN_FLIGHT = 16;
const IN_FLIGHT = 128;

const driverFolder = join(process.cwd(), 'driver');
const own = { file: join(process.cwd(), 'samples', 'benchmarks', 'word_problems.py'), name: 'word_problems' };
const stats = v.looseObject({
  firstRequestAt: v.nullable(v.number()),
  firstQuestionAt: v.nullable(v.number()),
  questions: v.number(),
  maxInFlight: v.number(),
});

/** Seconds from the moment of submitting. */
interface Timing {
  /** Ours is the check of the endpoint, before anything is asked. */
  readonly firstRequest: number;
  readonly firstQuestion: number;
  readonly finalScore: number;
  readonly maxInFlight: number;
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'shardboard-bench-'));
  const cluster = createClusterService({
    storageFolder: join(folder, 'storage'),
    resolvePython: async () => testPython(),
    watcher: watcherProgram,
    joined: { load: async () => undefined, save: async () => undefined, forget: async () => undefined },
  });
  const model = createPracticeModel({
    script: join(process.cwd(), 'samples', 'practice_model.mjs'),
    node: process.execPath,
    storageFolder: folder,
  });
  const runs = createRuns({
    storageFolder: join(folder, 'runs'),
    driverFolder,
    clientFor: () => cluster.client(),
    isClusterKnown: () => true,
    logError: (message) => console.error(message),
  });
  try {
    const url = await model.start({ latencyMs: LATENCY_MS, rightShare: 0.7 });
    await cluster.start();

    const ours = async (requestsInFlight: number): Promise<Timing> => {
      const state = cluster.state();
      const client = cluster.client();
      if (state.kind !== 'running' || !client) {
        throw new Error('The cluster is not running.');
      }
      await model.reset();
      const submittedAt = Date.now();
      const id = await runs.submit(
        {
          benchmark: own,
          shards: SHARDS,
          repeats: 1,
          maxProblems: null,
          modelUrl: url,
          modelId: PRACTICE_MODEL_ID,
          key: { source: 'none' },
          requestsInFlight,
          resultsFolder: join(folder, 'results'),
        },
        { name: 'bench', sessionName: state.sessionName, startedHere: true, client },
      );
      const status = await new Promise<string>((resolve) => {
        const look = (): void => {
          const run = runs.snapshot(id);
          if (run && hasEnded(run.status)) {
            subscription.dispose();
            resolve(`${run.status} ${run.scores?.['pass@1']?.value} ${run.status === 'complete' ? '' : run.message}`);
          }
        };
        const subscription = runs.onDidChange(look);
        look();
      });
      return await timing(url, submittedAt, `ours, ${requestsInFlight} in flight: ${status}`);
    };

    const stock = async (index: number): Promise<Timing> => {
      const client = cluster.client();
      if (!client) {
        throw new Error('The cluster is not running.');
      }
      await model.reset();
      const submittedAt = Date.now();
      await runStock(client, url, join(folder, `stock-${index}`), `stock-${index}`);
      return await timing(url, submittedAt, 'stock launcher: SUCCEEDED');
    };

    // The first runs fill the page cache and the bytecode of whatever has none; nobody's time is counted.
    await ours(IN_FLIGHT);
    await stock(0);
    const series: Record<'ours' | 'sameInFlight' | 'stock', Timing[]> = { ours: [], sameInFlight: [], stock: [] };
    for (let pair = 1; pair <= PAIRS; pair += 1) {
      series.stock.push(await stock(pair));
      series.ours.push(await ours(IN_FLIGHT));
      series.sameInFlight.push(await ours(STOCK_IN_FLIGHT));
    }
    report(series);
  } finally {
    runs.dispose();
    await cluster.stop();
    cluster.dispose();
    await model.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** The evaluator's launcher, as its documentation submits it; waits for its end. */
async function runStock(client: RayClient, url: string, output: string, submissionId: string): Promise<void> {
  const workingDir = await client.uploadPackage(await buildJobPackage({ driverFolder, request: '{}', own }));
  await client.submitJob({
    submissionId,
    entrypoint: `python -m nemo_evaluator.engine.ray_launcher --benchmark ${packagedBenchmarkName(own)} --shards ${SHARDS} --model-url ${url} --model-id ${PRACTICE_MODEL_ID} --output-dir ${output}`,
    runtimeEnv: { workingDir, envVars: { PYTHONDONTWRITEBYTECODE: '' } },
    metadata: {},
  });
  for (;;) {
    const job = await client.job(submissionId);
    if (job.status === 'SUCCEEDED') {
      return;
    }
    if (job.status !== 'PENDING' && job.status !== 'RUNNING') {
      throw new Error(`The stock launcher ended as ${job.status}: ${await client.jobLogs(submissionId)}`);
    }
    await wait(50);
  }
}

async function timing(url: string, submittedAt: number, what: string): Promise<Timing> {
  const endedAt = Date.now();
  const { body } = await request(new URL('/stats', url));
  const { firstRequestAt, firstQuestionAt, maxInFlight, questions } = v.parse(stats, await body.json());
  const result = {
    firstRequest: ((firstRequestAt ?? endedAt) - submittedAt) / 1000,
    firstQuestion: ((firstQuestionAt ?? endedAt) - submittedAt) / 1000,
    finalScore: (endedAt - submittedAt) / 1000,
    maxInFlight,
  };
  console.log(
    `${what}; first request ${result.firstRequest.toFixed(2)} s, first question ${result.firstQuestion.toFixed(2)} s, final score ${result.finalScore.toFixed(2)} s, ${questions} questions, at most ${maxInFlight} in flight`,
  );
  return result;
}

function report(series: Record<'ours' | 'sameInFlight' | 'stock', Timing[]>): void {
  const median = (timings: readonly Timing[], pick: (timing: Timing) => number): number =>
    timings.map(pick).sort((a, b) => a - b)[Math.floor(timings.length / 2)] ?? Number.NaN;
  const compare = (name: string, timings: readonly Timing[]): void => {
    for (const [what, pick] of [
      ['first request', (timing: Timing) => timing.firstRequest],
      ['first question', (timing: Timing) => timing.firstQuestion],
      ['final score', (timing: Timing) => timing.finalScore],
    ] as const) {
      const [us, them] = [median(timings, pick), median(series.stock, pick)];
      console.log(`${name}, ${what}: ${us.toFixed(2)} s against ${them.toFixed(2)} s, ratio ${(us / them).toFixed(2)}`);
    }
  };
  console.log(`\nMedians of ${PAIRS}, 1,319 problems, ${LATENCY_MS} ms latency, ${SHARDS} shards:`);
  compare(`With ${IN_FLIGHT} in flight`, series.ours);
  compare(`With the stock launcher's ${STOCK_IN_FLIGHT} in flight`, series.sameInFlight);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
