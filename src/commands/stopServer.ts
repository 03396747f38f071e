import { basename } from 'node:path';
import * as vscode from 'vscode';
import { UserError } from '../common/userError';
import { shownPath } from '../editor/workspaceSourceFiles';
import { configurationPathOf } from './goToConfiguration';
import type { ServerTerminals } from './serverTerminals';

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
    description: shownPath(path),
    path,
  }));
  return (await vscode.window.showQuickPick(items, { title: 'Which one is to be stopped?' }))?.path;
}
