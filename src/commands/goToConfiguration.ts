import * as vscode from 'vscode';
import { UserError } from '../common/userError';
import { toRange } from '../editor/ranges';
import { pathOf, uriOf, workspaceRoots } from '../editor/workspaceSourceFiles';
import type { ConfigurationIndex, Naming } from '../gym/configurationIndex';
import { belowRoot } from '../views/serversTree';
import { isServersNode } from '../views/serversView';

/** Opens the configuration that names a server, or lets a person choose when several do. */
export async function goToConfiguration(configurations: ConfigurationIndex, target: unknown): Promise<void> {
  const path = serverPathOf(target);
  if (path === undefined) {
    throw new UserError('There is no server to go from. Open the Python file of a Gym server, and try again.');
  }
  await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: 'Looking for Gym configurations' },
    () => configurations.build(),
  );
  const namings = await configurations.naming(path);
  const chosen = namings.length > 1 ? await choose(namings) : namings[0];
  if (chosen) {
    await vscode.window.showTextDocument(uriOf(chosen.path), { selection: toRange(chosen.instance.range) });
  } else if (namings.length === 0) {
    void vscode.window.showInformationMessage(
      `No configuration of this workspace names ${belowRoot(path, workspaceRoots())}.`,
    );
  }
}

function serverPathOf(target: unknown): string | undefined {
  if (target === undefined) {
    const document = vscode.window.activeTextEditor?.document;
    return document?.languageId === 'python' ? pathOf(document.uri) : undefined;
  }
  if (target instanceof vscode.Uri) {
    return pathOf(target);
  }
  if (!isServersNode(target)) {
    return undefined;
  }
  switch (target.type) {
    case 'server':
      return target.entry.path;
    case 'configuredServer':
      return target.server.path;
    default:
      return undefined;
  }
}

async function choose(namings: readonly Naming[]): Promise<Naming | undefined> {
  const items = namings.map((naming) => {
    const within = belowRoot(naming.path, workspaceRoots());
    const slash = within.lastIndexOf('/');
    return {
      label: within.slice(slash + 1),
      description: naming.instance.name,
      detail: within.slice(0, Math.max(0, slash)),
      naming,
    };
  });
  const chosen = await vscode.window.showQuickPick(items, {
    title: `${namings.length} places in configurations name this server`,
    placeHolder: 'Choose a configuration',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen?.naming;
}
