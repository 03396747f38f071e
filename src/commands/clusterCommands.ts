import * as vscode from 'vscode';
import type { Runs } from '../benchmark/runs';
import { driverAccess } from '../cluster/driverAccess';
import type { ClusterService } from '../cluster/service';
import { UserError } from '../common/userError';
import { jobHasEnded } from '../ray/client';
import { RayError } from '../ray/rayError';
import { jobOfLine } from '../views/clusterTree';
import { withProgress } from './register';

/** Starts the local cluster, with its stages shown and a way to cancel. */
export async function startCluster(cluster: ClusterService): Promise<void> {
  await withProgress('Starting Ray', async (report, signal) => {
    const subscription = cluster.onDidChange((state) => {
      if (state.kind === 'starting') {
        report(state.stage);
      }
    });
    try {
      await cluster.start({ signal });
    } finally {
      subscription.dispose();
    }
  });
}

/** Stops the cluster that was started here. Asks first when a job would end with it. */
export async function stopCluster(cluster: ClusterService, runs: Runs): Promise<void> {
  const state = cluster.state();
  const jobs = await jobsGoingOn(cluster);
  if (jobs > 0) {
    const what =
      jobs === 1
        ? 'A job runs on this cluster. Stopping Ray ends it'
        : `${jobs} jobs run on this cluster. Stopping Ray ends them`;
    if (!(await confirm(`${what}; the answers that came are kept.`, 'Stop Ray'))) {
      return;
    }
  }
  const options = { location: vscode.ProgressLocation.Notification, title: 'Stopping Ray' };
  await vscode.window.withProgress(options, async () => {
    if (state.kind === 'running') {
      // First, and heard: else the runs of this window would only see their cluster vanish.
      await runs.cancelOn(state.sessionName);
    }
    await cluster.stop();
  });
}

/** Leaves a joined cluster, which goes on. Asks first when a run on it could not be watched any more. */
export async function leaveCluster(cluster: ClusterService, runs: Runs): Promise<void> {
  const state = cluster.state();
  const active = runs.active();
  const going = state.kind === 'running' ? runs.on(state.sessionName).filter((id) => active.includes(id)) : [];
  const message =
    'A run of this window goes on there. It is not stopped, and can be watched again after joining again.';
  if (going.length === 0 || (await confirm(message, 'Leave cluster'))) {
    await cluster.leave();
  }
}

/** Of everybody, not only of this window: Ray knows. None when it does not answer, since then nothing can be lost. */
async function jobsGoingOn(cluster: ClusterService): Promise<number> {
  try {
    const jobs = (await cluster.client()?.jobs()) ?? [];
    return jobs.filter((job) => !jobHasEnded(job)).length;
  } catch (error) {
    if (error instanceof RayError) {
      return 0;
    }
    throw error;
  }
}

async function confirm(message: string, action: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(message, { modal: true }, action)) === action;
}

/** Opens the dashboard in the browser, at a job when its line is given. Works from a remote window too. */
export async function openDashboard(cluster: ClusterService, line: unknown): Promise<void> {
  const state = cluster.state();
  if (state.kind === 'running') {
    const dashboard = await vscode.env.asExternalUri(vscode.Uri.parse(state.dashboardUrl));
    const job = jobOfLine(line);
    await vscode.env.openExternal(
      job === undefined ? dashboard : dashboard.with({ fragment: `/jobs/${encodeURIComponent(job)}` }),
    );
  }
}

/** Puts an address of the cluster on the clipboard: the dashboard's, or the one that programs and nodes join by. */
export async function copyAddress(cluster: ClusterService): Promise<void> {
  const state = cluster.state();
  if (state.kind !== 'running') {
    throw new UserError('No Ray cluster is running here.');
  }
  const access = await driverAccess(cluster);
  const addresses = [
    ...('reason' in access ? [] : [{ label: access.gcsAddress, description: 'for ray.init and nodes that join' }]),
    { label: state.dashboardUrl, description: 'dashboard and ray job submit' },
  ];
  const chosen =
    addresses.length === 1
      ? addresses[0]
      : await vscode.window.showQuickPick(addresses, { title: 'Copy address of Ray cluster' });
  if (chosen) {
    await vscode.env.clipboard.writeText(chosen.label);
    void vscode.window.showInformationMessage(`${chosen.label} is on the clipboard.`);
  }
}

/** Puts the token that the dashboard asks for on the clipboard. */
export async function copyDashboardToken(cluster: ClusterService): Promise<void> {
  const token = cluster.token();
  if (token === undefined) {
    void vscode.window.showInformationMessage('This cluster asks for no token.');
    return;
  }
  await vscode.env.clipboard.writeText(token);
  void vscode.window.showInformationMessage("The dashboard's token is on the clipboard.");
}
