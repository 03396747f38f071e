/**
 * `npm run bench -- following`: what following a run costs us, against fixed limits, and how late an event is seen. The
 * views' share is in it: every snapshot that a page would get is made, and fitted to it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import * as v from 'valibot';
import { createPracticeModel, PRACTICE_MODEL_ID } from '../../src/benchmark/practiceModel';
import { type RunRecord, saveRunRecord } from '../../src/benchmark/runRecord';
import { createRuns, type Runs } from '../../src/benchmark/runs';
import { createClusterService } from '../../src/cluster/service';
import { createThrottle } from '../../src/common/throttle';
import { parseDriverLine } from '../../src/protocol/driverEvents';
import { runRequest } from '../../src/protocol/runRequest';
import { hasEnded, type RunSnapshot } from '../../src/protocol/runSnapshot';
import { createRayClient } from '../../src/ray/client';
import { fitToPage } from '../../src/views/resultsPageMessage';
import { testPython } from '../support/testPython';
import { watcherProgram } from '../support/watcherProgram';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 20);
const PER_SECOND = 500;
const MANY = 70_000;
/** As the views send it: views/resultsPageHost.ts. */
const PAGE_EVERY_MS = 250;

const limits = { streaming: 0.1, replay: 2, latency: 1.5 };

async function main(): Promise<void> {
  let allHold = true;
  const check = (name: string, value: number, limit: number, unit: string): void => {
    const holds = value <= limit;
    allHold &&= holds;
    console.log(`${name}: ${value.toFixed(3)} ${unit}, limit ${limit} ${unit}${holds ? '' : ', TOO MUCH'}`);
  };
  check(
    `processor time a second, ${PER_SECOND} answers a second, short log`,
    await streaming(0),
    limits.streaming,
    's',
  );
  check(
    `processor time a second, ${PER_SECOND} answers a second, after ${MANY} answers`,
    await streaming(MANY),
    limits.streaming,
    's',
  );
  check(`processor time of replaying ${MANY} answers`, await replay(), limits.replay, 's');
  for (const [name, latency] of await latencies()) {
    check(`from event to page, median, ${name}`, latency, limits.latency, 's');
  }
  if (!allHold) {
    process.exitCode = 1;
  }
}

interface Following {
  readonly runs: Runs;
  readonly snapshot: () => RunSnapshot | undefined;
  /** Waits for a page that shows this. */
  readonly until: (isSo: (run: RunSnapshot) => boolean) => Promise<void>;
}

/** Follows the job of a dashboard in another process, as after a reload of the window. */
async function followDashboard<T>(args: readonly number[], work: (following: Following) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'shardboard-bench-'));
  const program = join(process.cwd(), 'out', 'test', 'bench', 'streamingDashboard.cjs');
  const child = fork(program, args.map(String));
  const url = await new Promise<string>((resolve) => child.once('message', (message) => resolve(String(message))));
  const client = createRayClient({ url });
  const runs = createRuns({
    storageFolder: folder,
    driverFolder: join(process.cwd(), 'driver'),
    clientFor: () => client,
    isClusterKnown: () => true,
    logError: (message) => console.error(message),
  });
  await saveRunRecord(folder, record());
  const page = openPage(runs, 'run-1');
  try {
    await runs.restore();
    return await work({ runs, snapshot: () => runs.snapshot('run-1'), until: page.until });
  } finally {
    page.dispose();
    runs.dispose();
    await client.close();
    await end(child);
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** What a results page makes of a run's changes. */
function openPage(runs: Runs, id: string): { until: Following['until']; dispose(): void } {
  let onSent: ((run: RunSnapshot) => void) | undefined;
  const sender = createThrottle(() => {
    const run = runs.snapshot(id);
    if (run) {
      JSON.stringify(fitToPage(run));
      onSent?.(run);
    }
  }, PAGE_EVERY_MS);
  const subscription = runs.onDidChange(() => sender.request());
  return {
    until: (isSo) =>
      new Promise((resolve) => {
        onSent = (run) => {
          if (isSo(run)) {
            resolve();
          }
        };
        sender.request();
      }),
    dispose() {
      subscription.dispose();
      sender.dispose();
    },
  };
}

async function streaming(atOnce: number): Promise<number> {
  // More than will be told.
  const inAll = atOnce + 4 * SECONDS * PER_SECOND;
  return await followDashboard([PER_SECOND, atOnce, inAll], async ({ until, snapshot }) => {
    await until((run) => run.answered > atOnce);
    await wait(1000);
    const [before, from, begin] = [process.cpuUsage(), snapshot()?.answered ?? 0, performance.now()];
    await wait(SECONDS * 1000);
    const seconds = (performance.now() - begin) / 1000;
    const perSecond = ((snapshot()?.answered ?? 0) - from) / seconds;
    const cpu = secondsOf(process.cpuUsage(before)) / seconds;
    console.log(`${perSecond.toFixed(0)} answers a second were heard, over ${seconds.toFixed(0)} s`);
    return cpu;
  });
}

async function replay(): Promise<number> {
  const before = process.cpuUsage();
  return await followDashboard([0, MANY, MANY], async ({ until }) => {
    await until((run) => run.status === 'complete' && run.answered === MANY);
    return secondsOf(process.cpuUsage(before));
  });
}

function secondsOf({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e6;
}

/** On real Ray: from the moment at which the driver writes that an answer came to the page that counts it. */
async function latencies(): Promise<[string, number][]> {
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
  try {
    const url = await model.start({ latencyMs: 500, rightShare: 0.7 });
    await cluster.start();
    const found: [string, number][] = [];
    for (const [name, shards, repeats] of [
      ['8 shards', 8, 2],
      ['a log of more than 200,000 characters', 8, 10],
    ] as const) {
      found.push([name, await latencyOf(cluster, join(folder, name), url, shards, repeats)]);
    }
    return found;
  } finally {
    await cluster.stop();
    cluster.dispose();
    await model.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function latencyOf(
  cluster: ReturnType<typeof createClusterService>,
  folder: string,
  modelUrl: string,
  shards: number,
  repeats: number,
): Promise<number> {
  const state = cluster.state();
  const client = cluster.client();
  if (state.kind !== 'running' || !client) {
    throw new Error('The cluster is not running.');
  }
  const runs = createRuns({
    storageFolder: join(folder, 'runs'),
    driverFolder: join(process.cwd(), 'driver'),
    clientFor: () => client,
    isClusterKnown: () => true,
    logError: (message) => console.error(message),
  });
  const id = await runs.submit(
    {
      benchmark: { file: join(process.cwd(), 'samples', 'benchmarks', 'word_problems.py'), name: 'word_problems' },
      shards,
      repeats,
      maxProblems: null,
      modelUrl,
      modelId: PRACTICE_MODEL_ID,
      key: { source: 'none' },
      requestsInFlight: 128,
      resultsFolder: join(folder, 'results'),
    },
    { name: 'bench', sessionName: state.sessionName, startedHere: true, client },
  );
  const page = openPage(runs, id);
  const pages: { at: number; newest: number }[] = [];
  await page.until((run) => {
    pages.push({ at: Date.now(), newest: run.lastAnswerAt ?? 0 });
    return hasEnded(run.status);
  });
  page.dispose();
  runs.dispose();
  await runs.flush();
  // Both clocks are this machine's, and events are told in their order: a page shows all up to its newest.
  const late = (await client.jobLogs(id)).split('\n').flatMap((line) => {
    const event = parseDriverLine(line);
    if (!event || event instanceof Error || event.type !== 'answers') {
      return [];
    }
    const shown = pages.find(({ newest }) => newest >= event.t * 1000);
    return shown ? [shown.at / 1000 - event.t] : [];
  });
  late.sort((one, other) => one - other);
  const at = (share: number): string => (late[Math.floor(late.length * share)] ?? Number.NaN).toFixed(2);
  console.log(`${late.length} events, from event to page: 10 % ${at(0.1)} s, median ${at(0.5)} s, 90 % ${at(0.9)} s`);
  return late[Math.floor(late.length / 2)] ?? Number.NaN;
}

function record(): RunRecord {
  return {
    version: 1,
    id: 'run-1',
    benchmark: 'word_problems',
    request: v.parse(runRequest, {
      version: 2,
      benchmark: 'word_problems',
      shards: 8,
      repeats: 1,
      modelUrl: 'http://127.0.0.1:1/v1',
      modelId: 'practice',
      key: { source: 'none' },
      requestsInFlight: 128,
      outputFolder: '/results/run-1',
    }),
    cluster: { name: 'bench', sessionName: 'session_1', startedHere: true },
    submittedAt: Date.now(),
    own: null,
    localFolder: null,
    snapshot: null,
    log: null,
  };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill();
  await ended;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
