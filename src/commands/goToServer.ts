import * as vscode from 'vscode';
import { UserError } from '../common/userError';
import { toRange } from '../editor/ranges';
import { pathOf, shownPath, uriOf } from '../editor/workspaceSourceFiles';
import { readConfiguration } from '../gym/configuration';
import type { ConfigurationIndex } from '../gym/configurationIndex';
import { FLAG_WORDS } from '../gym/serverFlag';
import { placeOf } from '../gym/serverPlace';
import type { ConfiguredFlag } from '../gym/verdict';
import { isServersNode } from '../views/serversView';

/**
 * Opens the server that a configuration starts: the one at the cursor, else the only one, else the one that a person chooses.
 *
 * @param instances the names of the instances to choose from; all when undefined
 */
export async function goToServer(
  configurations: ConfigurationIndex,
  target: unknown,
  instances: unknown,
): Promise<void> {
  if (isServersNode(target) && target.type === 'configuredServer') {
    await open(target.server);
    return;
  }
  const uri = configurationUriOf(target);
  if (!uri) {
    throw new UserError('There is no configuration to go from. Open the YAML file of one, and try again.');
  }
  const document = await vscode.workspace.openTextDocument(uri);
  const configuration = await readConfiguration(document.getText());
  if (!configuration) {
    throw new UserError(`${shownPath(pathOf(uri))} names no Gym server.`);
  }
  const { servers } = await configurations.verdict(pathOf(uri), configuration);
  const atCursor = target === undefined ? instanceAtCursor() : undefined;
  const wanted = servers.filter(({ instance }) =>
    atCursor ? instance === atCursor : Array.isArray(instances) ? instances.includes(instance) : true,
  );
  const candidates = wanted.length > 0 ? wanted : servers;
  const [only, second] = candidates;
  if (!only) {
    throw new UserError(`${shownPath(pathOf(uri))} starts no server.`);
  }
  const chosen = second ? await choose(candidates) : only;
  if (chosen) {
    await open(chosen);
  }

  function instanceAtCursor(): string | undefined {
    const editor = vscode.window.activeTextEditor;
    return editor?.document === document
      ? configuration?.instances.find(({ block }) => toRange(block).contains(editor.selection.active))?.name
      : undefined;
  }
}

function configurationUriOf(target: unknown): vscode.Uri | undefined {
  if (target === undefined) {
    const document = vscode.window.activeTextEditor?.document;
    return document?.languageId === 'yaml' ? document.uri : undefined;
  }
  if (target instanceof vscode.Uri) {
    return target;
  }
  return isServersNode(target) && target.type === 'configuration' ? uriOf(target.path) : undefined;
}

async function open({ instance, path, file, reason }: ConfiguredFlag): Promise<void> {
  if (path === undefined || !file) {
    throw new UserError(`The server of ${instance} cannot be opened: ${reason ?? 'its file is not found'}.`);
  }
  await vscode.window.showTextDocument(uriOf(path), { selection: toRange(placeOf(file)) });
}

async function choose(servers: readonly ConfiguredFlag[]): Promise<ConfiguredFlag | undefined> {
  const items = servers.map((server) => ({
    label: server.instance,
    description: `Ray: ${FLAG_WORDS[server.flag]}`,
    detail: `${server.kind}/${server.name}`,
    server,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Servers of this configuration',
    placeHolder: 'Choose a server',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen?.server;
}
