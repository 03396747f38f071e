import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { UserError } from '../common/userError';

/** A Python interpreter and where it was found, for messages. */
export interface FoundInterpreter {
  readonly path: string;
  readonly from: string;
}

const openSetting = {
  title: 'Open setting',
  command: 'shardboard.openSetting',
  args: ['shardboard.pythonPath'],
};

/**
 * Finds the interpreter that runs Ray and the evaluator: our own setting, else the workspace's `.venv`.
 *
 * @throws UserError when there is none, or when the setting names a file that cannot be run.
 */
export async function findInterpreter(folder: vscode.WorkspaceFolder | undefined): Promise<FoundInterpreter> {
  const configured = vscode.workspace.getConfiguration('shardboard', folder).get<string>('pythonPath', '').trim();
  if (configured !== '') {
    const path = resolveVariables(configured, folder);
    if (!(await isExecutable(path))) {
      throw new UserError(
        `There is no Python at ${path}, which the setting shardboard.pythonPath names. Make the environment, or change the setting.`,
        [openSetting],
      );
    }
    return { path, from: 'the setting shardboard.pythonPath' };
  }
  if (folder) {
    const path = join(folder.uri.fsPath, '.venv', 'bin', 'python');
    if (await isExecutable(path)) {
      return { path, from: "the workspace's .venv" };
    }
  }
  throw new UserError(
    'No Python environment was found: the setting shardboard.pythonPath is empty and the workspace has no .venv. ' +
      'Set it to a Python 3.12 or 3.13 that has ray[default] and nemo-evaluator[ray,stats].',
    [openSetting],
  );
}

/** Puts the workspace's folder in place of `${workspaceFolder}`. */
export function resolveVariables(value: string, folder: vscode.WorkspaceFolder | undefined): string {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code's own spelling of a variable in a setting.
  return value.replaceAll('${workspaceFolder}', folder?.uri.fsPath ?? '');
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
