import * as vscode from 'vscode';
import { driverAccess, tokenFileOf } from '../cluster/driverAccess';
import type { ClusterService } from '../cluster/service';
import { terminalVariables, terminalWords } from '../cluster/terminalVariables';
import { createDisposables } from '../common/emitter';

const SETTING = 'shardboard.terminal.useCluster';

/**
 * Hands the chosen cluster to new terminals, as long as it is chosen. VS Code shows what is handed over, and marks the
 * terminals from before.
 */
export function handToTerminals(
  variables: vscode.GlobalEnvironmentVariableCollection,
  cluster: ClusterService,
  onError: (error: unknown) => void,
): vscode.Disposable {
  const disposables = createDisposables();
  variables.persistent = false;
  let handed: string | undefined;

  const update = async (): Promise<void> => {
    const state = cluster.state();
    const isWanted = vscode.workspace.getConfiguration().get<boolean>(SETTING) ?? true;
    const key =
      isWanted && state.kind === 'running'
        ? [state.dashboardUrl, state.sessionName, state.gcsAddress].join(' ')
        : undefined;
    if (key === handed) {
      return;
    }
    handed = key;
    if (state.kind !== 'running' || key === undefined) {
      variables.clear();
      return;
    }
    const { dashboardUrl } = state;
    const [access, tokenFile] = await Promise.all([driverAccess(cluster), tokenFileOf(cluster)]);
    if (handed !== key) {
      // Another cluster, or none, has been chosen meanwhile.
      return;
    }
    const given = { dashboardUrl, access, tokenFile };
    variables.clear();
    variables.description = new vscode.MarkdownString(terminalWords(given, cluster.token() !== undefined));
    for (const [name, value] of Object.entries(terminalVariables(given))) {
      // Again after the shell's own files, which may name another cluster.
      variables.replace(name, value, { applyAtProcessCreation: true, applyAtShellIntegration: true });
    }
  };
  const tell = (): void => void update().catch(onError);
  disposables.add(cluster.onDidChange(tell));
  disposables.add(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(SETTING)) {
        tell();
      }
    }),
  );
  disposables.add({ dispose: () => variables.clear() });
  tell();
  return disposables;
}
