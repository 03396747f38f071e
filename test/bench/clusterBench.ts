/**
 * `npm run bench -- cluster`: how long a cluster takes until it can be used, beside a plain `ray start --head` from the same
 * interpreter and in turns, as a ratio; and how long until nothing of it is left.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadClusterRecord } from '../../src/cluster/clusterRecord';
import { listClusterProcesses } from '../../src/cluster/processes';
import { createClusterService } from '../../src/cluster/service';
import { eventually, startForeignCluster } from '../support/rayClusters';
import { testPython } from '../support/testPython';
import { watcherProgram } from '../support/watcherProgram';

const PAIRS = Number(process.env.BENCH_PAIRS ?? 3);

/** Seconds. */
interface Timing {
  readonly untilUsable: number;
  /** When each stage began. */
  readonly stages: readonly string[];
  readonly untilGone: number;
}

/** Until it is of use as ours is then: `ray start` has ended, and its dashboard says that a node is alive. */
async function plain(): Promise<number> {
  const begin = performance.now();
  const cluster = await startForeignCluster();
  await eventually(async () => {
    const nodes = await cluster.client.nodes().catch(() => []);
    return nodes.some(({ state }) => state === 'ALIVE');
  });
  const seconds = secondsSince(begin);
  await cluster.end();
  return seconds;
}

async function ours(): Promise<Timing> {
  const storageFolder = await mkdtemp(join(tmpdir(), 'bench-'));
  const service = createClusterService({
    storageFolder,
    resolvePython: async () => testPython(),
    watcher: watcherProgram,
    joined: { load: async () => undefined, save: async () => undefined, forget: async () => undefined },
  });
  try {
    const begin = performance.now();
    const stages: string[] = [];
    service.onDidChange((state) => {
      if (state.kind === 'starting') {
        stages.push(`${state.stage} ${secondsSince(begin).toFixed(1)}`);
      }
    });
    await service.start();
    const untilUsable = secondsSince(begin);
    const record = await loadClusterRecord(storageFolder);
    const stopping = performance.now();
    await service.stop();
    const untilGone = secondsSince(stopping);
    if (!record || (await listClusterProcesses(record)).length > 0) {
      throw new Error('Something of the cluster is left.');
    }
    return { untilUsable, stages, untilGone };
  } finally {
    service.dispose();
    await rm(storageFolder, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  // The first start fills the page cache and the bytecode of whatever has none; nobody's time is counted.
  await plain();
  const timings: { plain: number; ours: Timing }[] = [];
  for (let pair = 1; pair <= PAIRS; pair += 1) {
    const one = { plain: await plain(), ours: await ours() };
    console.log(
      `plain ray start ${one.plain.toFixed(2)} s; ours ${one.ours.untilUsable.toFixed(2)} s (${one.ours.stages.join(', ')}), stopped in ${one.ours.untilGone.toFixed(2)} s`,
    );
    timings.push(one);
  }
  const middle = (pick: (one: (typeof timings)[number]) => number): string => median(timings.map(pick)).toFixed(2);
  console.log(`\nMedians of ${PAIRS}:`);
  // The ratio of each pair, not of the medians: what else the machine does changes from minute to minute.
  console.log(
    `Start to usable: ${middle((one) => one.ours.untilUsable)} s against ${middle((one) => one.plain)} s, ratio in a pair ${middle((one) => one.ours.untilUsable / one.plain)}`,
  );
  console.log(`Stop to nothing left: ${middle((one) => one.ours.untilGone)} s`);
}

function secondsSince(begin: number): number {
  return (performance.now() - begin) / 1000;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
