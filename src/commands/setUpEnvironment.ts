import * as vscode from 'vscode';
import type { Disposable } from '../common/emitter';
import { messageOf, UserError } from '../common/userError';
import { probeEnvironment } from '../python/environment';
import type { InterpreterFinder } from '../python/interpreterFinder';
import { type BasePython, findBasePython, makeEnvironment } from '../python/makeEnvironment';
import { type EnvironmentFacts, environmentRows, mayWantAnother, type RowAction } from './environmentRows';
import { type InstallDependencies, installPackage } from './installPackage';
import { openSetting } from './openSetting';
import { withProgress } from './register';

export interface SetUpDependencies extends InstallDependencies {
  /** Whether the workspace has Gym servers. */
  readonly wantsGym: () => boolean;
}

const PYTHON_EXTENSION = 'ms-python.python';

/**
 * Shows which Python is used and why, what it has and what it lacks; installs what is chosen, one thing at a time, and shows
 * it again until the person leaves.
 */
export async function setUpEnvironment(dependencies: SetUpDependencies, resource: unknown): Promise<void> {
  const folder = await folderFor(resource);
  for (;;) {
    const action = await askAction(dependencies, folder);
    switch (action?.kind) {
      case 'install':
        await installPackage(dependencies, action.python, action.about);
        break;
      case 'make':
        await makeIn(dependencies, folder, action.base);
        break;
      case 'choose':
        await vscode.commands.executeCommand('python.setInterpreter');
        break;
      case 'setting':
        await openSetting('shardboard.pythonPath');
        return;
      default:
        return;
    }
  }
}

/**
 * The folder of the workspace that a command is about: of the resource that is given, else of the editor, else the only one.
 *
 * @throws vscode.CancellationError when there are several and the person chooses none
 */
async function folderFor(resource: unknown): Promise<vscode.WorkspaceFolder | undefined> {
  const uri = resource instanceof vscode.Uri ? resource : undefined;
  const found = folderOf(uri);
  const isClear = uri !== undefined || vscode.window.activeTextEditor !== undefined;
  if (isClear || (vscode.workspace.workspaceFolders?.length ?? 0) < 2) {
    return found;
  }
  const picked = await vscode.window.showWorkspaceFolderPick({ placeHolder: 'The Python of which folder' });
  if (!picked) {
    throw new vscode.CancellationError();
  }
  return picked;
}

/** The folder of the workspace that a file is in: the given one, else the one in the editor; else the first folder. */
export function folderOf(uri: vscode.Uri | undefined): vscode.WorkspaceFolder | undefined {
  const file = uri ?? vscode.window.activeTextEditor?.document.uri;
  return (file && vscode.workspace.getWorkspaceFolder(file)) ?? vscode.workspace.workspaceFolders?.[0];
}

async function askAction(
  dependencies: SetUpDependencies,
  folder: vscode.WorkspaceFolder | undefined,
): Promise<RowAction | undefined> {
  const pick = vscode.window.createQuickPick<vscode.QuickPickItem & { readonly action?: RowAction }>();
  pick.title = folder ? `Python environment for ${folder.name}` : 'Python environment';
  pick.placeholder = 'Choose what to install, or leave everything as it is';
  pick.matchOnDescription = true;
  let latest = 0;
  const fill = async (): Promise<void> => {
    latest += 1;
    const mine = latest;
    pick.busy = true;
    const rows = environmentRows(await factsOf(dependencies, folder));
    if (mine === latest) {
      pick.busy = false;
      pick.items = rows.map(({ isHeading, ...row }) => ({
        ...row,
        ...(isHeading && { kind: vscode.QuickPickItemKind.Separator }),
      }));
    }
  };
  let subscription: Disposable | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const refill = (): void => void fill().catch(reject);
      subscription = dependencies.interpreters.onDidChange(refill);
      pick.onDidAccept(() => {
        const action = pick.selectedItems[0]?.action;
        // A row that only tells is no answer.
        if (action) {
          resolve(action);
        }
      });
      pick.onDidHide(() => resolve(undefined));
      pick.show();
      refill();
    });
  } finally {
    subscription?.dispose();
    pick.dispose();
  }
}

async function factsOf(
  { interpreters, wantsGym }: SetUpDependencies,
  folder: vscode.WorkspaceFolder | undefined,
): Promise<EnvironmentFacts> {
  const isSet = vscode.workspace.getConfiguration('shardboard', folder).get<string>('pythonPath', '').trim() !== '';
  const canChoose = !isSet && vscode.extensions.getExtension(PYTHON_EXTENSION) !== undefined;
  const facts = { found: await foundIn(interpreters, folder), wantsGym: wantsGym(), canChoose };
  const isWanted = folder?.uri.scheme === 'file' && mayWantAnother(facts);
  return { ...facts, base: isWanted ? await findBasePython() : undefined };
}

async function foundIn(
  interpreters: InterpreterFinder,
  folder: vscode.WorkspaceFolder | undefined,
): Promise<EnvironmentFacts['found']> {
  let why = '';
  try {
    const { path, from } = await interpreters.find(folder);
    why = ` It was taken from ${from}.`;
    return { path, from, environment: await probeEnvironment(path) };
  } catch (error) {
    if (error instanceof UserError) {
      return `${messageOf(error)}${why}`;
    }
    throw error;
  }
}

/** Makes an environment in the folder, and chooses it. */
async function makeIn(
  { interpreters, log }: SetUpDependencies,
  folder: vscode.WorkspaceFolder | undefined,
  base: BasePython,
): Promise<void> {
  if (!folder) {
    return;
  }
  const python = await withProgress(`Making an environment with Python ${base.version}`, (onStage, signal) =>
    makeEnvironment(base, folder.uri.fsPath, { onStage, onLine: (line) => log.info(line), signal }),
  );
  interpreters.installed();
  const found = await interpreters.find(folder).catch(() => undefined);
  if (found?.path !== python) {
    // Something else comes before the workspace's .venv. The person has asked for this one.
    const setting = vscode.workspace.getConfiguration('shardboard', folder);
    const isOnly = vscode.workspace.workspaceFolders?.length === 1;
    const target = isOnly ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.WorkspaceFolder;
    const path = `\${workspaceFolder}${python.slice(folder.uri.fsPath.length)}`;
    await setting.update('pythonPath', path, target);
  }
}
