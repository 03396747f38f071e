import assert from 'node:assert/strict';
import * as vscode from 'vscode';

/** Accepts what each question of a command proposes. Nothing tells when one is shown; before, accepting does nothing. */
export async function acceptFirst(command: Thenable<unknown>): Promise<void> {
  let hasEnded = false;
  const ended = Promise.resolve(command).finally(() => {
    hasEnded = true;
  });
  await until('the command has ended', async () => {
    await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
    return hasEnded;
  });
  await ended;
}

/** Waits for something that no event tells of; Mocha's own time limit ends it. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries += 1) {
    assert.ok(tries < 300, `not so after 30 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
