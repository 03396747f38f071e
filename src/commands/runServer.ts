import { access, constants } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import { findFreePort, isPortFree } from '../cluster/ports';
import type { ClusterService } from '../cluster/service';
import { UserError } from '../common/userError';
import { folderFor, uriOf } from '../editor/workspaceSourceFiles';
import { type Configuration, readConfiguration } from '../gym/configuration';
import type { ConfigurationIndex } from '../gym/configurationIndex';
import { serverCommand, serverEnvironment } from '../gym/serverCommand';
import type { InterpreterFinder } from '../python/interpreterFinder';
import { checkEnvironment } from './checkEnvironment';
import { clusterForServer } from './clusterForServer';
import { chooseConfiguration } from './goToConfiguration';
import type { ServerTerminals } from './serverTerminals';

export interface RunServerDependencies {
  readonly configurations: ConfigurationIndex;
  readonly terminals: ServerTerminals;
  readonly cluster: ClusterService;
  readonly interpreters: InterpreterFinder;
}

/** Runs `gym env start` for a configuration: of the server or the configuration that is given, or that is in the editor. */
export async function runServer(dependencies: RunServerDependencies, target: unknown): Promise<void> {
  const { configurations, terminals, cluster, interpreters } = dependencies;
  const path = await chooseConfiguration(configurations, target);
  if (path === undefined) {
    return;
  }
  const uri = uriOf(path);
  if (uri.scheme !== 'file') {
    throw new UserError('Gym can run only a configuration that is a file on this machine. Save it on one first.');
  }
  if (terminals.running().includes(path)) {
    throw new UserError(`Gym runs ${basename(path)} already. Stop it first.`, [
      { title: 'Stop it', command: 'shardboard.stopServer', args: [uri] },
    ]);
  }
  const { path: python } = await interpreters.find(folderFor(path));
  await checkGym(python);
  // Gym reads what is on disk.
  await vscode.workspace.saveAll(false);
  const configuration = await readConfiguration((await vscode.workspace.openTextDocument(uri)).getText());
  if (!configuration) {
    throw new UserError(`${basename(path)} names no Gym server, so that there is nothing to run.`);
  }
  const joined = await clusterForServer(await configurations.verdict(path, configuration), cluster, python);
  const headPort = await headPortFor(configuration, terminals.running().length > 0);
  terminals.start({
    command: serverCommand(python, { configuration: uri.fsPath, rayAddress: joined?.gcsAddress, headPort }),
    configuration: path,
    name: `Gym: ${basename(path)}`,
    folder: gymFolder(path, vscode.workspace.getWorkspaceFolder(uri)),
    env: serverEnvironment(python, joined?.tokenFile),
  });
}

async function checkGym(python: string): Promise<void> {
  const { program } = serverCommand(python, { configuration: '' });
  try {
    await access(program, constants.X_OK);
  } catch {
    await checkEnvironment(python, 'gym');
    throw new UserError(`NeMo Gym is installed in the environment of ${python}, but there is no gym beside it.`, [
      { title: 'Set up Python', command: 'shardboard.setUpEnvironment' },
    ]);
  }
}

const HEAD_PORT = 11_000;

/**
 * A port for Gym's head server when its usual one is taken: Gym then fails with words that do not tell.
 *
 * @param isAnotherRunning whether another Gym was started here, which may not have taken its port yet
 */
async function headPortFor(configuration: Configuration, isAnotherRunning: boolean): Promise<number | undefined> {
  const isNamed = configuration.content.has('head_server');
  return isNamed || (!isAnotherRunning && (await isPortFree(HEAD_PORT))) ? undefined : await findFreePort();
}

/** Where Gym looks for the folders of servers: the one that holds the folder of their kind. */
function gymFolder(path: string, folder: vscode.WorkspaceFolder | undefined): string {
  const kinds =
    /\/(?:resources_servers|responses_api_agents|responses_api_models|environment_servers|environments|benchmarks)\//;
  // The folder of the workspace may itself stand in one that has such a name.
  const above = folder?.uri.path ?? '';
  const match = kinds.exec(path.slice(above.length));
  return match
    ? uriOf(above + path.slice(above.length, above.length + match.index)).fsPath
    : (folder?.uri.fsPath ?? dirname(uriOf(path).fsPath));
}
