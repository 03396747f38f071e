import { type ChildProcess, spawn } from 'node:child_process';
import { open, readlink } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readFileIfThere } from '../common/files';
import { hasCode, messageOf, UserError } from '../common/userError';
import { createRayClient, type RayClient, type RayNode, type RayVersion } from '../ray/client';
import { RayError } from '../ray/rayError';
import { clusterPaths, isDiskFull, makeClusterFolder, removeClusterFolder } from './clusterFolder';
import { type ClusterRecord, saveClusterRecord } from './clusterRecord';
import { findStartedCluster } from './findCluster';
import { type ClusterPorts, findClusterPorts } from './ports';
import { CLUSTER_MARK, endClusterProcesses, type ProcessOwner } from './processes';
import { processIdentity } from './processIdentity';
import { type ClusterResources, resourceArguments } from './resources';
import { explainFileFailure, explainStartFailure, hasGivenUp } from './startFailure';
import { takeStartLock } from './startLock';
import { endWatcher, ensureWatcher } from './watcherProcess';

export interface StartOptions {
  /** The interpreter, by absolute path. Not resolved through links: of a virtual environment the link is the point. */
  readonly python: string;
  /** Where the record of the cluster is kept, the same for all windows. */
  readonly storageFolder: string;
  /** The bundled program that watches a cluster: clusterWatcher.ts. */
  readonly watcher: string;
  readonly resources: ClusterResources;
  /** Only tests name a function of their own. */
  readonly findPorts?: () => Promise<ClusterPorts>;
  readonly onStage: (stage: string) => void;
  readonly signal: AbortSignal;
}

/** Without bytecode on a slow disk a start takes above half a minute. */
const START_LIMIT_MS = 180_000;
/** `ray start` ends when everything runs; whatever does not answer by then has failed. */
const AFTER_START_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 100;

/**
 * Starts a cluster on this machine, or finds the one that is ours already. Of several windows that start at once, one
 * does it and the others get its cluster.
 *
 * @returns when the cluster answers by our session's name and a node is alive.
 * @throws UserError with the reason when Ray does not start; the signal's reason when it is aborted. What had been
 * started is ended in both cases.
 */
export async function startCluster(options: StartOptions): Promise<ClusterRecord> {
  const { storageFolder, signal } = options;
  let lock = await takeStartLock(storageFolder);
  while (!lock) {
    options.onStage('waiting for another window that is starting it');
    await wait(LOOK_EVERY_MS, undefined, { signal });
    lock = await takeStartLock(storageFolder);
  }
  try {
    const found = await findStartedCluster(storageFolder);
    if (found) {
      return found;
    }
    const record = await startHeadNode(options, lock.note);
    await saveClusterRecord(storageFolder, record);
    return record;
  } catch (error) {
    throw explainFileFailure(error) ?? error;
  } finally {
    await lock.release();
  }
}

async function startHeadNode(
  options: StartOptions,
  note: (started: ProcessOwner) => Promise<void>,
): Promise<ClusterRecord> {
  const { python, onStage, signal } = options;
  signal.throwIfAborted();
  const resources = resourceArguments(options.resources);
  onStage('starting head node');
  const ports = await (options.findPorts ?? findClusterPorts)();
  const { folder, token } = await makeClusterFolder();
  const dashboardUrl = `http://127.0.0.1:${ports.dashboard}`;
  const client = createRayClient({ url: dashboardUrl, token });
  let owner: ProcessOwner | undefined;
  try {
    if (await isDiskFull(folder)) {
      // Ray would find that out in a minute, and could not say it.
      throw await startFailure(python, folder);
    }
    const child = await spawnRay(python, folder, ports, resources);
    owner = child.owner;
    await note(owner);
    // As early as this: the window may be killed while Ray starts.
    await ensureWatcher(options.watcher, options.storageFolder, folder);
    const { version, head } = await waitUntilUp(options, child.process, client, folder);
    const ip = head.ip.includes(':') ? `[${head.ip}]` : head.ip;
    return {
      version: 1,
      dashboardUrl,
      gcsAddress: `${ip}:${ports.gcs}`,
      sessionName: version.sessionName,
      ...owner,
      tokenFile: clusterPaths(folder).token,
      startedAt: Date.now(),
      python,
      rayVersion: version.rayVersion,
    };
  } catch (error) {
    if (owner) {
      await endClusterProcesses(owner, 0);
    }
    await endWatcher(folder);
    await removeClusterFolder(folder);
    throw error;
  } finally {
    await client.close();
  }
}

async function spawnRay(
  python: string,
  folder: string,
  ports: ClusterPorts,
  resources: readonly string[],
): Promise<{ process: ChildProcess; owner: ProcessOwner }> {
  const paths = clusterPaths(folder);
  // A file, not a pipe: Ray's daemons outlive this window, and writing into a pipe that nobody reads would end them.
  const log = await open(paths.startLog, 'w', 0o600);
  try {
    const child = spawn(
      python,
      // Never the `ray` of PATH: it may belong to another environment.
      [
        ...['-m', 'ray.scripts.scripts', 'start', '--head', ...resources],
        `--port=${ports.gcs}`,
        '--dashboard-host=127.0.0.1',
        `--dashboard-port=${ports.dashboard}`,
        `--dashboard-agent-listen-port=${ports.dashboardAgent}`,
        `--ray-client-server-port=${ports.clientServer}`,
        // Or fail: without it Ray would start without a dashboard and call that a success.
        '--include-dashboard=true',
        `--temp-dir=${paths.ray}`,
        '--disable-usage-stats',
      ],
      {
        cwd: folder,
        env: environmentOf(python, folder, ports),
        // A group of its own, by which the cluster is known from then on.
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
      },
    );
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    const leader = child.pid === undefined ? undefined : await processIdentity(child.pid);
    if (child.pid === undefined || leader === undefined) {
      throw await startFailure(python, folder);
    }
    child.unref();
    return { process: child, owner: { processGroup: child.pid, leader, folder } };
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EACCES')) {
      throw new UserError(`${python} cannot be run: ${messageOf(error)}. Choose another interpreter.`);
    }
    throw error;
  } finally {
    await log.close();
  }
}

/** The environment that the cluster and all its jobs inherit. */
function environmentOf(python: string, folder: string, ports: ClusterPorts): NodeJS.ProcessEnv {
  const paths = clusterPaths(folder);
  const inherited = Object.entries(process.env).filter(
    ([name]) =>
      // Of VS Code's own there are sockets and askpass programs that no job should find.
      !/^(VSCODE|ELECTRON)_/.test(name) &&
      // These would lead Ray's own programs, or a job, to another cluster or another token.
      !['RAY_ADDRESS', 'RAY_API_SERVER_ADDRESS', 'RAY_REDIS_ADDRESS', 'RAY_AUTH_TOKEN', 'NODE_OPTIONS'].includes(
        name,
      ) &&
      // Without bytecode every worker compiles Ray anew, which doubles each start.
      name !== 'PYTHONDONTWRITEBYTECODE',
  );
  return {
    ...Object.fromEntries(inherited),
    // Jobs find `python` here.
    PATH: [dirname(python), process.env.PATH].filter(Boolean).join(delimiter),
    // Always: Ray's other ports listen on all of the machine's addresses.
    RAY_AUTH_MODE: 'token',
    RAY_AUTH_TOKEN_PATH: paths.token,
    TMPDIR: paths.temporary,
    DASHBOARD_METRIC_PORT: String(ports.dashboardMetrics),
    AUTOSCALER_METRIC_PORT: String(ports.autoscalerMetrics),
    [CLUSTER_MARK]: folder,
  };
}

async function waitUntilUp(
  options: StartOptions,
  child: ChildProcess,
  client: RayClient,
  folder: string,
): Promise<{ version: RayVersion; head: RayNode }> {
  const { onStage, signal } = options;
  let deadline = Date.now() + START_LIMIT_MS;
  child.once('exit', () => {
    deadline = Math.min(deadline, Date.now() + AFTER_START_LIMIT_MS);
  });
  const look = async <T>(what: () => Promise<T | undefined>): Promise<T> => {
    for (;;) {
      signal.throwIfAborted();
      const found = await what();
      if (found !== undefined) {
        return found;
      }
      const hasFailed = child.signalCode !== null || (child.exitCode !== null && child.exitCode !== 0);
      if (hasFailed || hasGivenUp(await logOf(folder, 'gcs_server.err')) || Date.now() > deadline) {
        throw await startFailure(options.python, folder);
      }
      await wait(LOOK_EVERY_MS, undefined, { signal });
    }
  };
  const session = await look(() => sessionOf(folder));
  onStage('waiting for the dashboard');
  const version = await look(() => ifUp(client.version({ signal })));
  if (version.sessionName !== session) {
    throw new UserError(
      "Another Ray cluster took the dashboard's port, which had been free a moment before. Try again.",
    );
  }
  onStage('waiting for a node');
  const head = await look(async () => {
    const nodes = await ifUp(client.nodes({ signal }));
    return nodes?.find((node) => node.isHead && node.state === 'ALIVE');
  });
  return { version, head };
}

/** The name of the session, once Ray has made it. */
async function sessionOf(folder: string): Promise<string | undefined> {
  try {
    return basename(await readlink(join(clusterPaths(folder).ray, 'session_latest')));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) {
      return undefined;
    }
    throw error;
  }
}

/** Undefined while Ray is not up yet. A cluster that wants another token is not ours, and never will be. */
async function ifUp<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RayError && error.kind !== 'unauthorized' && error.kind !== 'forbidden') {
      return undefined;
    }
    throw error;
  }
}

async function startFailure(python: string, folder: string): Promise<UserError> {
  const output = (await readFileIfThere(clusterPaths(folder).startLog)) ?? '';
  const logs = await Promise.all(['gcs_server.err', 'dashboard.log', 'raylet.err'].map((name) => logOf(folder, name)));
  return explainStartFailure({ python, output, logs, isDiskFull: await isDiskFull(folder) });
}

/** A log of Ray's own, empty when there is none yet. */
async function logOf(folder: string, name: string): Promise<string> {
  return (await readFileIfThere(join(clusterPaths(folder).ray, 'session_latest', 'logs', name))) ?? '';
}
