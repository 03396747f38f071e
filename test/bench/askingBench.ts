/**
 * `npm run bench -- asking`: how close the asking of a run comes to the best that is possible with as many requests in
 * flight, and what the death of a process in its middle costs.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { request } from 'undici';
import * as v from 'valibot';
import { createRuns, type NewRun, type RunCluster } from '../../src/benchmark/runs';
import { createClusterService } from '../../src/cluster/service';
import { hasEnded, type RunSnapshot } from '../../src/protocol/runSnapshot';
import { seededRandom } from '../support/seededRandom';
import { testPython } from '../support/testPython';
import { watcherProgram } from '../support/watcherProgram';
import { idealSchedule, latencyOf, type ModelSettings } from './modelSettings';

const ROUNDS = Number(process.env.BENCH_PAIRS ?? 3);
const IN_FLIGHT = 128;
const PROBLEMS = 1319;
const SEED = 7;
const own = { file: join(process.cwd(), 'samples', 'benchmarks', 'word_problems.py'), name: 'word_problems' };
const stats = v.object({
  answers: v.number(),
  busy: v.number(),
  firstAt: v.number(),
  lastAt: v.number(),
  inFlight: v.number(),
  maxInFlight: v.number(),
});

interface Measured {
  readonly askingMs: number;
  readonly totalMs: number;
  readonly busy: number;
  readonly maxInFlight: number;
  readonly answers: number;
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'shardboard-bench-'));
  const cluster = createClusterService({
    storageFolder: join(folder, 'storage'),
    resolvePython: async () => testPython(),
    watcher: watcherProgram,
    joined: { load: async () => undefined, save: async () => undefined, forget: async () => undefined },
  });
  const runs = createRuns({
    storageFolder: join(folder, 'runs'),
    driverFolder: join(process.cwd(), 'driver'),
    clientFor: () => cluster.client(),
    isClusterKnown: () => true,
    logError: (message) => console.error(message),
  });

  async function run(
    model: string,
    choices: Partial<NewRun>,
    meanwhile: (run: RunSnapshot) => void,
  ): Promise<Measured> {
    const state = cluster.state();
    const client = cluster.client();
    if (state.kind !== 'running' || !client) {
      throw new Error('The cluster is not running.');
    }
    const where: RunCluster = { name: 'bench', sessionName: state.sessionName, startedHere: true, client };
    const { body } = await request(new URL('/reset', model));
    await body.dump();
    const begin = performance.now();
    const id = await runs.submit(
      {
        benchmark: own,
        shards: 8,
        repeats: 1,
        modelUrl: `${model}/v1`,
        modelId: 'bench',
        key: { source: 'none' },
        requestsInFlight: IN_FLIGHT,
        resultsFolder: join(folder, 'results'),
        ...choices,
      },
      where,
    );
    const ended = await new Promise<RunSnapshot>((resolve) => {
      const look = (): void => {
        const snapshot = runs.snapshot(id);
        if (snapshot && hasEnded(snapshot.status)) {
          subscription.dispose();
          resolve(snapshot);
        } else if (snapshot) {
          meanwhile(snapshot);
        }
      };
      const subscription = runs.onDidChange(look);
      look();
    });
    if (ended.status !== 'complete') {
      throw new Error(`The run ended as ${ended.status}: ${ended.message}\n${runs.log(id)}`);
    }
    const totalMs = performance.now() - begin;
    const told = v.parse(stats, await (await request(new URL('/stats', model))).body.json());
    return { ...told, askingMs: told.lastAt - told.firstAt, totalMs };
  }

  async function compare(
    what: string,
    settings: ModelSettings,
    choices: Partial<NewRun>,
    answers: number,
  ): Promise<void> {
    const random = seededRandom(settings.seed);
    const latencies = Array.from({ length: answers }, () => latencyOf(settings.latency, random));
    const ideal = idealSchedule(latencies, IN_FLIGHT, settings.perSecond);
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // Anew for each: the latencies are drawn in the order of the questions.
      const model = await startModel(settings);
      const measured = await run(model.url, choices, () => undefined);
      model.end();
      ratios.push(measured.askingMs / ideal);
      console.log(
        `${what}: asking ${(measured.askingMs / 1000).toFixed(2)} s, ideal ${(ideal / 1000).toFixed(2)} s, ratio ${(measured.askingMs / ideal).toFixed(2)}; at most ${measured.maxInFlight} in flight, ${measured.busy} times busy, ${(measured.totalMs / 1000).toFixed(1)} s in all`,
      );
    }
    console.log(`${what}: ratio ${median(ratios).toFixed(2)} (median of ${ROUNDS})\n`);
  }

  try {
    await cluster.start();
    const constant = { latency: { kind: 'constant', ms: 50 }, perSecond: null, seed: SEED } as const;
    const real = {
      latency: { kind: 'logNormal', medianMs: 300, percentile99Ms: 4500 },
      perSecond: null,
      seed: SEED,
    } as const;
    const warm = await startModel(constant);
    await run(warm.url, {}, () => undefined);
    warm.end();
    await compare('6,595 answers at 50 ms', constant, { repeats: 5 }, 5 * PROBLEMS);
    await compare('Real latencies', real, {}, PROBLEMS);
    await compare('Real latencies behind a limit of 100 a second', { ...real, perSecond: 100 }, {}, PROBLEMS);
    await benchFault();
  } finally {
    runs.dispose();
    await cluster.stop();
    cluster.dispose();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }

  /** A run of more than half a minute, undisturbed and with one of its processes killed in the middle. */
  async function benchFault(): Promise<void> {
    const slow: ModelSettings = { latency: { kind: 'constant', ms: 650 }, perSecond: null, seed: SEED };
    const choices = { requestsInFlight: 32 };
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const model = await startModel(slow);
      const undisturbed = await run(model.url, choices, () => undefined);
      let killed = false;
      const disturbed = await run(model.url, choices, (snapshot) => {
        if (!killed && snapshot.answered >= PROBLEMS / 2) {
          killed = true;
          process.kill(asker(), 'SIGKILL');
        }
      });
      model.end();
      ratios.push(disturbed.totalMs / undisturbed.totalMs);
      console.log(
        `One of two processes killed in the middle: ${(disturbed.totalMs / 1000).toFixed(1)} s against ${(undisturbed.totalMs / 1000).toFixed(1)} s, ratio ${(disturbed.totalMs / undisturbed.totalMs).toFixed(2)}; ${disturbed.answers} questions for ${PROBLEMS} answers`,
      );
    }
    console.log(`Cost of a fault: ratio ${median(ratios).toFixed(2)} (median of ${ROUNDS})`);
  }
}

async function startModel(settings: ModelSettings): Promise<{ readonly url: string; end(): void }> {
  const program = join(process.cwd(), 'out', 'test', 'bench', 'modelProgram.cjs');
  const child = spawn(process.execPath, [program, JSON.stringify(settings)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = await once(createInterface(child.stdout), 'line');
  return { url: String(url), end: () => child.kill() };
}

/** One of the processes that ask. */
function asker(): number {
  const line = execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .find((entry) => /^\s*\d+ ray::Asker/.test(entry));
  return Number(line?.trim().split(' ')[0]);
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
