import * as vscode from 'vscode';
import { type DriverAccess, driverAccess, versionMismatch } from '../cluster/driverAccess';
import type { ClusterService } from '../cluster/service';
import type { Verdict } from '../gym/verdict';
import { probeEnvironment } from '../python/environment';

/**
 * How Gym is to join the cluster for a configuration; undefined when it is to run without. A person is asked when servers need
 * Ray and there is no cluster that Gym could join.
 *
 * @param python the interpreter that Gym runs on
 * @throws vscode.CancellationError when they choose neither
 */
export async function clusterForServer(
  verdict: Verdict,
  cluster: ClusterService,
  python: string,
): Promise<DriverAccess | undefined> {
  if (verdict.startsRay === 'no') {
    return undefined;
  }
  if (cluster.state().kind === 'running') {
    return await joinOrAsk(cluster, python);
  }
  if (verdict.startsRay === 'unsettled') {
    return undefined;
  }
  const because = [...new Set(verdict.because.map(({ instance }) => instance))].join(', ');
  const start = 'Start Ray';
  const without = 'Run without';
  const chosen = await ask(
    'The configuration needs Ray, and no cluster is running.',
    `It needs Ray because of ${because}. Without a cluster from here, Gym starts one of its own.`,
    [start, without],
  );
  if (chosen === without) {
    return undefined;
  }
  await vscode.commands.executeCommand('shardboard.startCluster');
  if (cluster.state().kind !== 'running') {
    // Why it did not start has been told.
    throw new vscode.CancellationError();
  }
  return await joinOrAsk(cluster, python);
}

async function joinOrAsk(cluster: ClusterService, python: string): Promise<DriverAccess | undefined> {
  const own = await probeEnvironment(python);
  const mismatch = await versionMismatch(cluster, { python: own.python, ray: own.ray });
  const access = mismatch === undefined ? await driverAccess(cluster) : { reason: mismatch };
  if (!('reason' in access)) {
    return access;
  }
  await ask('Gym cannot join the cluster.', `${upper(access.reason)}. Without it, Gym starts a cluster of its own.`, [
    'Run without',
  ]);
  return undefined;
}

async function ask(message: string, detail: string, choices: readonly string[]): Promise<string> {
  const chosen = await vscode.window.showInformationMessage(message, { modal: true, detail }, ...choices);
  if (chosen === undefined) {
    throw new vscode.CancellationError();
  }
  return chosen;
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
