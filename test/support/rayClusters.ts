/** What the tests on real Ray share: clusters of others, windows that can be killed, and looking until something is so. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { findClusterPorts } from '../../src/cluster/ports';
import { endClusterProcesses, listProcesses, type ProcessOwner } from '../../src/cluster/processes';
import { processIdentity } from '../../src/cluster/processIdentity';
import type { ClusterState } from '../../src/cluster/service';
import { createRayClient, type RayClient } from '../../src/ray/client';
import { projectRoot } from './projectRoot';
import { testPython } from './testPython';

export interface ForeignCluster extends ProcessOwner {
  readonly client: RayClient;
  readonly sessionName: string;
  end(): Promise<void>;
}

/** A cluster as a user would start one in a terminal. */
export async function startForeignCluster(): Promise<ForeignCluster> {
  const folder = await mkdtemp('/tmp/foreign-');
  const ports = await findClusterPorts();
  const child = spawn(
    testPython(),
    [
      ...['-m', 'ray.scripts.scripts', 'start', '--head', '--disable-usage-stats', '--num-cpus=1'],
      ...[`--port=${ports.gcs}`, `--dashboard-port=${ports.dashboard}`, `--temp-dir=${join(folder, 'r')}`],
      `--ray-client-server-port=${ports.clientServer}`,
      `--dashboard-agent-listen-port=${ports.dashboardAgent}`,
    ],
    {
      detached: true,
      stdio: 'ignore',
      env: { ...process.env, RAY_AUTH_MODE: 'disabled', PYTHONDONTWRITEBYTECODE: '' },
    },
  );
  const leader = child.pid && (await processIdentity(child.pid));
  const [exitCode] = await once(child, 'exit');
  assert.equal(exitCode, 0, 'the other cluster could be started');
  assert.ok(child.pid && leader);
  const owner = { processGroup: child.pid, leader, folder };
  const client = createRayClient({ url: `http://127.0.0.1:${ports.dashboard}` });
  const { sessionName } = await eventually(() => client.version().catch(() => undefined));
  return {
    ...owner,
    client,
    sessionName,
    async end() {
      await client.close();
      await endClusterProcesses(owner, 0);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface WindowProcess {
  readonly process: ChildProcess;
  /** Waits for a state, now or later. */
  until<K extends ClusterState['kind']>(kind: K): Promise<Extract<ClusterState, { kind: K }>>;
  kill(): Promise<void>;
}

/** Opens a window (windowProgram.ts) whose watcher looks `pauseMs` after each look. */
export function openWindowProcess(
  storageFolder: string,
  action: 'start' | 'restore',
  options: { readonly pauseMs: number; readonly keep?: boolean },
): WindowProcess {
  const program = join(projectRoot, 'out', 'test', 'support', 'windowProgram.cjs');
  const child = spawn(process.execPath, [program, storageFolder, action, ...(options.keep ? ['keep'] : [])], {
    env: { ...process.env, SHARDBOARD_WATCHER_PAUSE_MS: String(options.pauseMs) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const states: ClusterState[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    states.push(JSON.parse(line));
  });
  return {
    process: child,
    until: (kind) =>
      eventually(async () => {
        const state = states.at(-1);
        return state && isOf(state, kind) ? state : undefined;
      }),
    async kill() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function isOf<K extends ClusterState['kind']>(
  state: ClusterState,
  kind: K,
): state is Extract<ClusterState, { kind: K }> {
  return state.kind === kind;
}

/** The command lines that hold this folder's name. */
export async function processesNaming(folder: string): Promise<readonly string[]> {
  return (await listProcesses()).map((row) => row.commandLine).filter((line) => line.includes(folder));
}

/** Looks until there is something. */
export async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found) {
      return found;
    }
    await wait(100);
  }
}
