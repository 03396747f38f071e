import * as vscode from 'vscode';

/** Shows one setting, where it can be changed: a setting of the machine is not among a remote window's user settings. */
export async function openSetting(setting: unknown): Promise<void> {
  const query = String(setting);
  const hasWorkspace = (vscode.workspace.workspaceFolders?.length ?? 0) > 0;
  await vscode.commands.executeCommand(
    hasWorkspace ? 'workbench.action.openWorkspaceSettings' : 'workbench.action.openSettings',
    { query },
  );
}
