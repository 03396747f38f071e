import type { RunCluster } from '../benchmark/runs';
import { isHeadHere } from '../cluster/driverAccess';
import type { ClusterService, ClusterState } from '../cluster/service';
import { UserError } from '../common/userError';
import { isSupportedCluster, SUPPORTED_CLUSTER } from '../python/supportedVersions';
import type { RayClient, RayNode } from '../ray/client';
import { checkEnvironment } from './checkEnvironment';

/**
 * The chosen cluster, once it is certain that benchmarks run on it.
 *
 * @throws UserError when there is none, or its Python or versions do not fit.
 */
export async function clusterForRuns(cluster: ClusterService): Promise<RunCluster> {
  const client = cluster.client();
  const state = cluster.state();
  if (!client || state.kind !== 'running') {
    throw new UserError('There is no Ray cluster to send the benchmark to. Start one, or join one.', [
      { title: 'Start Ray', command: 'shardboard.startCluster' },
      { title: 'Join a cluster', command: 'shardboard.joinCluster' },
    ]);
  }
  // Jobs run in the Python that the cluster was started with, whichever is chosen now.
  const python = cluster.python();
  if (python !== undefined) {
    await checkEnvironment(python, 'benchmark');
  }
  const name = nameOfCluster(state);
  await checkVersions(client, name, state.rayVersion);
  return {
    name,
    sessionName: state.sessionName,
    startedHere: state.origin === 'started',
    client,
    isHere: state.origin === 'started' || isHeadHere(state.nodes),
    python: await pythonOf(client, state.nodes),
  };
}

/** What the cluster of a run is called. */
export function nameOfCluster({ origin, dashboardUrl }: ClusterState & { kind: 'running' }): string {
  return origin === 'started' ? 'local cluster' : new URL(dashboardUrl).host;
}

/** Jobs run in the cluster's own Python, so what it has counts, not what is chosen here. */
async function checkVersions(client: RayClient, name: string, rayVersion: string): Promise<void> {
  const pythonVersion = await client.pythonVersion();
  if (!isSupportedCluster(rayVersion, pythonVersion)) {
    throw new UserError(
      `The cluster that is chosen (${name}) runs Ray ${rayVersion} on Python ${pythonVersion}, and benchmarks need ${SUPPORTED_CLUSTER}. Join a cluster that has them, or start one here.`,
      [{ title: 'Join another cluster', command: 'shardboard.joinCluster' }],
    );
  }
}

/** The Python that the head node runs Ray with: jobs start there. */
async function pythonOf(client: RayClient, nodes: readonly RayNode[]): Promise<string | undefined> {
  const head = nodes.find(({ isHead, state }) => isHead && state === 'ALIVE');
  return head && (await client.pythonOf(head.id).catch(() => undefined));
}
