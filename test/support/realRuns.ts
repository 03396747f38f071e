/** Runs on a real cluster of their own, through the same parts that VS Code uses, without VS Code. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuns, type NewRun, type RunCluster, type Runs } from '../../src/benchmark/runs';
import type { ClusterResources } from '../../src/cluster/resources';
import { type ClusterService, createClusterService } from '../../src/cluster/service';
import { hasEnded, type RunSnapshot } from '../../src/protocol/runSnapshot';
import { startEndpoint, type TestEndpoint, type TestEndpointOptions } from './endpoint';
import { projectRoot } from './projectRoot';
import { testPython } from './testPython';
import { watcherProgram } from './watcherProgram';

export interface RealRuns {
  /** Holds everything that the runs leave, and the cluster's record in `storage`. */
  readonly folder: string;
  readonly cluster: ClusterService;
  readonly runs: Runs;
  /** Starts a model endpoint that is closed with the rest. */
  endpoint(options?: TestEndpointOptions): Promise<TestEndpoint>;
  /** Sends a run of the benchmark `tiny`, changed as the test wants it. */
  submit(choices: Partial<NewRun> & { readonly modelUrl: string }, where?: Partial<RunCluster>): Promise<string>;
  /** Waits until a run is so; fails when it ends without. */
  until(id: string, isSo: (run: RunSnapshot) => boolean): Promise<RunSnapshot>;
  untilEnded(id: string): Promise<RunSnapshot>;
  close(): Promise<void>;
}

/** Starts the cluster. */
export async function startRealRuns(options: {
  /** What a test's runs have in common. */
  readonly choices: Pick<NewRun, 'shards' | 'repeats' | 'requestsInFlight'> & Partial<NewRun>;
  readonly resources?: ClusterResources;
}): Promise<RealRuns> {
  const folder = await mkdtemp(join(tmpdir(), 'shardboard-real-'));
  const { resources } = options;
  const cluster = createClusterService({
    storageFolder: join(folder, 'storage'),
    resolvePython: async () => testPython(),
    watcher: watcherProgram,
    ...(resources && { resources: () => resources }),
    joined: { load: async () => undefined, save: async () => undefined, forget: async () => undefined },
  });
  const runs = createRuns({
    storageFolder: join(folder, 'runs'),
    driverFolder: join(projectRoot, 'driver'),
    clientFor: () => cluster.client(),
    isClusterKnown: () => true,
    logError: (message) => console.error(message),
  });
  const endpoints: TestEndpoint[] = [];
  await cluster.start();

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

  return {
    folder,
    cluster,
    runs,
    until,
    untilEnded: (id) => until(id, (run) => hasEnded(run.status)),
    async endpoint(endpointOptions = {}) {
      const started = await startEndpoint(endpointOptions);
      endpoints.push(started);
      return started;
    },
    async submit(choices, where = {}) {
      const state = cluster.state();
      const client = cluster.client();
      assert.ok(state.kind === 'running' && client);
      const run: NewRun = {
        benchmark: { file: join(projectRoot, 'test', 'fixtures', 'benchmarks', 'tiny.py'), name: 'tiny' },
        modelId: 'test',
        key: { source: 'none' },
        resultsFolder: join(folder, 'results'),
        ...options.choices,
        ...choices,
      };
      const here = { name: 'local cluster', sessionName: state.sessionName, startedHere: true, client };
      return await runs.submit(run, { ...here, ...where });
    },
    async close() {
      runs.dispose();
      await runs.flush();
      await cluster.stop();
      cluster.dispose();
      await Promise.all(endpoints.map((endpoint) => endpoint.close()));
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** Files below the folder that hold the text. */
export async function filesHolding(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && (await readFile(path, 'latin1').catch(() => '')).includes(text)) {
      found.push(path);
    }
  }
  return found;
}

/** How often the questions of the benchmark `tiny` were asked in all. */
export function timesAsked(model: TestEndpoint): number {
  return [...model.asked].filter(([question]) => /^What is/.test(question)).reduce((sum, [, count]) => sum + count, 0);
}
