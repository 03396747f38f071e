import * as vscode from 'vscode';
import { UserError } from '../common/userError';

/**
 * Does what runs code of the workspace or sends it to a cluster. A command's `enablement` is not enough: a code lens
 * calls the command itself.
 *
 * @throws UserError in a workspace that is not trusted.
 */
export async function inTrust<T>(work: () => Promise<T>): Promise<T> {
  if (!vscode.workspace.isTrusted) {
    throw new UserError('This workspace is not trusted, and this would run code of it. Trust it first.', [
      { title: 'Manage trust', command: 'workbench.trust.manage' },
    ]);
  }
  return await work();
}
