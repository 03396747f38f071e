import * as vscode from 'vscode';
import type { Runs } from '../benchmark/runs';
import type { ClusterService } from '../cluster/service';
import { UserError } from '../common/userError';
import { normaliseAddress } from '../ray/address';
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

/** Stops the cluster that was started here. Asks first when a run would be lost with it. */
export async function stopCluster(cluster: ClusterService, runs: Runs): Promise<void> {
  const active = runs.active().length;
  if (active > 0) {
    const stop = 'Stop Ray';
    const chosen = await vscode.window.showWarningMessage(
      `${active === 1 ? 'A run is' : `${active} runs are`} going on this cluster. Stopping Ray cancels it; the answers that came are kept.`,
      { modal: true },
      stop,
    );
    if (chosen !== stop) {
      return;
    }
  }
  const options = { location: vscode.ProgressLocation.Notification, title: 'Stopping Ray' };
  await vscode.window.withProgress(options, () => cluster.stop());
}

/**
 * Asks for an address, and for a token when the cluster wants one, and joins.
 *
 * @param proposed an address that an error offered instead of a mistaken one
 */
export async function joinCluster(cluster: ClusterService, proposed: unknown): Promise<void> {
  const address = await vscode.window.showInputBox({
    title: 'Join Ray cluster',
    prompt: "Address of the cluster's dashboard",
    value: typeof proposed === 'string' ? proposed : 'http://127.0.0.1:8265',
    ignoreFocusOut: true,
    validateInput: (text) => {
      try {
        normaliseAddress(text);
        return undefined;
      } catch (error) {
        return error instanceof UserError ? error.message : String(error);
      }
    },
  });
  if (address === undefined) {
    return;
  }
  const token = await vscode.window.showInputBox({
    title: 'Join Ray cluster',
    prompt: "The cluster's token, if it has one. Kept in VS Code's secret storage",
    password: true,
    ignoreFocusOut: true,
  });
  if (token === undefined) {
    return;
  }
  const options = { location: vscode.ProgressLocation.Notification, title: `Joining ${address}` };
  await vscode.window.withProgress(options, () =>
    cluster.join(address, token.trim() === '' ? undefined : token.trim()),
  );
}

/** Opens the dashboard in the browser. Works from a remote window too. */
export async function openDashboard(cluster: ClusterService): Promise<void> {
  const state = cluster.state();
  if (state.kind === 'running') {
    await vscode.env.openExternal(await vscode.env.asExternalUri(vscode.Uri.parse(state.dashboardUrl)));
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
