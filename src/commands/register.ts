import * as vscode from 'vscode';
import { type ErrorAction, messageOf, UserError } from '../common/userError';

/** Registers a command whose errors reach the person as a sentence, with a button where one action fixes it. */
export function registerCommand(
  id: string,
  log: vscode.LogOutputChannel,
  run: (...args: readonly unknown[]) => Promise<void>,
): vscode.Disposable {
  return vscode.commands.registerCommand(id, async (...args: unknown[]) => {
    try {
      await run(...args);
    } catch (error) {
      if (!(error instanceof vscode.CancellationError)) {
        await showError(error, log);
      }
    }
  });
}

/** Tells a person what went wrong, and runs the action they choose. */
export async function showError(error: unknown, log: vscode.LogOutputChannel): Promise<void> {
  const isForPeople = error instanceof UserError;
  log.error(error instanceof Error && !isForPeople ? error : messageOf(error));
  const showLog: ErrorAction = { title: 'Show log', command: 'shardboard.showLog' };
  const actions = isForPeople ? error.actions : [showLog];
  const message = isForPeople ? error.message : `Shardboard ran into a fault of its own: ${messageOf(error)}`;
  const chosen = await vscode.window.showErrorMessage(message, ...actions.map((action) => action.title));
  const action = actions.find(({ title }) => title === chosen);
  if (action) {
    await vscode.commands.executeCommand(action.command, ...(action.args ?? []));
  }
}

/** Runs work with a notification that shows its stage and can cancel it. */
export async function withProgress<T>(
  title: string,
  work: (report: (stage: string) => void, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return await vscode.window.withProgress(options, async (progress, token) => {
    const controller = new AbortController();
    const subscription = token.onCancellationRequested(() => controller.abort());
    try {
      return await work((stage) => progress.report({ message: stage }), controller.signal);
    } catch (error) {
      throw controller.signal.aborted ? new vscode.CancellationError() : error;
    } finally {
      subscription.dispose();
    }
  });
}
