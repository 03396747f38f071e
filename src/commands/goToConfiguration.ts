import * as vscode from 'vscode';
import { UserError } from '../common/userError';
import { toRange } from '../editor/ranges';
import { pathOf, shownPath, uriOf } from '../editor/workspaceSourceFiles';
import { readConfiguration } from '../gym/configuration';
import { type ConfigurationIndex, isYaml, type Naming } from '../gym/configurationIndex';
import { newConfigurationFor } from '../gym/newConfiguration';
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
    void vscode.window.showInformationMessage(`No configuration of this workspace names ${shownPath(path)}.`);
  }
}

/**
 * The path of the configuration that is given, or of the one that names the server that is given; a person chooses when there
 * are several. Without anything given, what is in the editor counts. Undefined when nothing was chosen.
 *
 * @throws UserError when there is none
 */
export async function chooseConfiguration(
  configurations: ConfigurationIndex,
  target: unknown,
): Promise<string | undefined> {
  await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: 'Looking for Gym configurations' },
    () => configurations.build(),
  );
  const given = target === undefined ? await configurationInEditor() : configurationPathOf(target);
  // Whether it is in the index does not matter: one outside of the workspace is not.
  if (given !== undefined && isYaml(given)) {
    return given;
  }
  const editor = vscode.window.activeTextEditor;
  if (target === undefined && editor?.document.isUntitled && ['python', 'yaml'].includes(editor.document.languageId)) {
    throw new UserError(
      'Gym runs only what is saved, and where it looks for it: a server as resources_servers/NAME/app.py, a configuration anywhere near.',
      [{ title: 'Save as', command: 'workbench.action.files.saveAs' }],
    );
  }
  const server = serverPathOf(target);
  const namings =
    server === undefined
      ? [...configurations.configurations()].flatMap(([path, configuration]) => {
          const [instance] = configuration.instances;
          return instance ? [{ path, configuration, instance }] : [];
        })
      : await configurations.naming(server);
  if (namings.length === 0) {
    throw new UserError(
      server === undefined
        ? 'This workspace has no Gym configuration: a YAML file that names servers by their entrypoint.'
        : `No configuration of this workspace names ${shownPath(server)}, and Gym starts servers only by a configuration.`,
      server !== undefined && (await newConfigurationFor(server))
        ? [{ title: 'Write one', command: 'shardboard.writeConfiguration', args: [uriOf(server)] }]
        : [],
    );
  }
  return (namings.length > 1 ? await choose(namings) : namings[0])?.path;
}

/** The path of what may be a configuration: what is given, or else what is in the editor. */
export function configurationPathOf(target: unknown): string | undefined {
  if (target === undefined) {
    const uri = vscode.window.activeTextEditor?.document.uri;
    return uri && pathOf(uri);
  }
  if (target instanceof vscode.Uri) {
    return pathOf(target);
  }
  return isServersNode(target) && target.type === 'configuration' ? target.path : undefined;
}

/** The path of the configuration in the editor; undefined for a YAML file of something else. */
async function configurationInEditor(): Promise<string | undefined> {
  const document = vscode.window.activeTextEditor?.document;
  return document?.languageId === 'yaml' && (await readConfiguration(document.getText()))
    ? pathOf(document.uri)
    : undefined;
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
    const within = shownPath(naming.path);
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
