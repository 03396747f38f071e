import * as vscode from 'vscode';
import { UserError } from '../common/userError';
import { pathOf, shownPath, uriOf } from '../editor/workspaceSourceFiles';
import type { ConfigurationIndex } from '../gym/configurationIndex';
import { newConfigurationFor } from '../gym/newConfiguration';

/** Writes the smallest configuration for a server that none names, and opens it: what runs it stands at its top. */
export async function writeConfiguration(configurations: ConfigurationIndex, server: unknown): Promise<void> {
  const written = server instanceof vscode.Uri ? await newConfigurationFor(pathOf(server)) : undefined;
  if (!written) {
    throw new UserError(
      'A configuration can be written only for a resources server that stands where Gym looks for it.',
    );
  }
  const uri = uriOf(written.path);
  const edit = new vscode.WorkspaceEdit();
  // Refused when there is one: it is somebody's.
  edit.createFile(uri, { overwrite: false, ignoreIfExists: false, contents: new TextEncoder().encode(written.text) });
  if (!(await vscode.workspace.applyEdit(edit))) {
    throw new UserError(`${shownPath(written.path)} is there already, and names another server. Name this one in it.`);
  }
  configurations.update([written.path]);
  await vscode.window.showTextDocument(uri);
}
