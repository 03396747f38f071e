import { access, constants } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import type { ClusterService } from '../cluster/service';
import { UserError } from '../common/userError';
import { uriOf, workspaceRoots } from '../editor/workspaceSourceFiles';
import type { ConfigurationIndex } from '../gym/configurationIndex';
import { isInside } from '../gym/moduleSearch';
import { serverCommand } from '../gym/serverCommand';
import type { Verdict } from '../gym/verdict';
import { findInterpreter } from '../python/interpreterFinder';
import { belowRoot } from '../views/serversTree';
import { chooseConfiguration, configurationPathOf } from './goToConfiguration';
import type { ServerTerminals } from './serverTerminals';

export interface RunServerDependencies {
  readonly configurations: ConfigurationIndex;
  readonly terminals: ServerTerminals;
  readonly cluster: ClusterService;
}

/** Runs `gym env start` for a configuration: of the server or the configuration that is given, or that is in the editor. */
export async function runServer(dependencies: RunServerDependencies, target: unknown): Promise<void> {
  const { configurations, terminals, cluster } = dependencies;
  const path = await chooseConfiguration(configurations, target);
  if (path === undefined) {
    return;
  }
  const configuration = configurations.configurations().get(path);
  const uri = uriOf(path);
  if (uri.scheme !== 'file' || !configuration) {
    throw new UserError('Gym can run only a configuration that is a file on this machine.');
  }
  if (terminals.running().includes(path)) {
    throw new UserError(`Gym runs ${basename(path)} already. Stop it first.`, [
      { title: 'Stop it', command: 'shardboard.stopServer', args: [uri] },
    ]);
  }
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  const { path: python } = await findInterpreter(folder);
  const verdict = await configurations.verdict(path, configuration);
  const rayAddress = await rayFor(verdict, cluster);
  if (rayAddress === 'cancelled') {
    return;
  }
  const command = serverCommand(python, uri.fsPath, rayAddress);
  if (!(await isExecutable(command.program))) {
    throw new UserError(
      `There is no gym beside ${python}. Install nemo-gym there, or choose a Python that has it; NeMo Gym 0.7 asks for Python 3.13.14 or newer.`,
      [{ title: 'Open setting', command: 'shardboard.openSetting', args: ['shardboard.pythonPath'] }],
    );
  }
  const tokenFile = rayAddress === undefined ? undefined : cluster.tokenFile();
  terminals.start({
    command,
    configuration: path,
    name: `Gym: ${basename(path)}`,
    folder: gymFolder(path, folder),
    // Only where the token stands, never the token.
    env: tokenFile === undefined ? {} : { RAY_AUTH_MODE: 'token', RAY_AUTH_TOKEN_PATH: tokenFile },
  });
}

/** Interrupts Gym, and waits until it has ended. */
export async function stopServer(terminals: ServerTerminals, target: unknown): Promise<void> {
  const running = terminals.running();
  const named = running.find((path) => path === configurationPathOf(target));
  const path = named ?? (running.length > 1 ? await chooseRunning(running) : running[0]);
  if (path === undefined) {
    if (running.length === 0) {
      throw new UserError('No Gym server that was started here is running.');
    }
    return;
  }
  const options = { location: vscode.ProgressLocation.Notification, title: `Stopping ${basename(path)}` };
  await vscode.window.withProgress(options, () => terminals.stop(path));
}

async function chooseRunning(running: readonly string[]): Promise<string | undefined> {
  const items = running.map((path) => ({
    label: basename(path),
    description: belowRoot(path, workspaceRoots()),
    path,
  }));
  return (await vscode.window.showQuickPick(items, { title: 'Which one is to be stopped?' }))?.path;
}

/** The address of the cluster to join; undefined for none. Asks when the servers need Ray and there is no cluster. */
async function rayFor(verdict: Verdict, cluster: ClusterService): Promise<string | undefined | 'cancelled'> {
  const state = cluster.state();
  if (state.kind === 'running') {
    return verdict.startsRay === 'no' ? undefined : state.gcsAddress;
  }
  if (verdict.startsRay !== 'yes') {
    return undefined;
  }
  const because = verdict.because.map(({ instance }) => instance).join(', ');
  const start = 'Start Ray';
  const without = 'Run without';
  const chosen = await vscode.window.showInformationMessage(
    'The configuration needs Ray, and no cluster is running.',
    {
      modal: true,
      detail: `It needs Ray because of ${because}. Without a cluster from here, Gym starts one of its own.`,
    },
    start,
    without,
  );
  if (chosen === start) {
    await vscode.commands.executeCommand('shardboard.startCluster');
    const now = cluster.state();
    // Why it did not start has been told.
    return now.kind === 'running' ? now.gcsAddress : 'cancelled';
  }
  return chosen === without ? undefined : 'cancelled';
}

/** Where Gym looks for the folders of servers: the one that holds the folder of their kind. */
function gymFolder(path: string, folder: vscode.WorkspaceFolder | undefined): string {
  const kinds =
    /\/(?:resources_servers|responses_api_agents|responses_api_models|environment_servers|environments|benchmarks)\//;
  const match = kinds.exec(path);
  const root = match ? path.slice(0, match.index) : undefined;
  if (root !== undefined && (!folder || isInside(`${root}/x`, folder.uri.path))) {
    return uriOf(root).fsPath;
  }
  return folder?.uri.fsPath ?? dirname(uriOf(path).fsPath);
}

async function isExecutable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
