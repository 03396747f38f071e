import assert from 'node:assert/strict';
import * as vscode from 'vscode';

const ID = 'shardboard.shardboard';

suite('activation', () => {
  test('a Python file activates the extension', async () => {
    const extension = vscode.extensions.getExtension(ID);
    assert.ok(extension, `the extension ${ID} is not there`);
    const document = await vscode.workspace.openTextDocument({ language: 'python', content: 'x = 1\n' });
    await vscode.window.showTextDocument(document);
    await until('the extension is active', () => extension.isActive);
  });

  test('every command of the manifest is registered', async () => {
    const extension = vscode.extensions.getExtension(ID);
    await extension?.activate();
    const declared: { command: string }[] = extension?.packageJSON.contributes.commands;
    assert.ok(declared.length > 0);
    const registered = new Set(await vscode.commands.getCommands(true));
    const missing = declared.map(({ command }) => command).filter((command) => !registered.has(command));
    assert.deepEqual(missing, []);
  });
});

/** Waits for something that no event tells of; Mocha's own time limit ends it. */
async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries += 1) {
    assert.ok(tries < 500, `not so after 50 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
