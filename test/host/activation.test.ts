import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import * as vscode from 'vscode';

const ID = 'shardboard.shardboard';

suite('activation', () => {
  // The first of all: nothing else may have activated the extension before.
  test('a Python file activates the extension, which loads no grammar and reads no file before one is of Gym', async () => {
    const extension = vscode.extensions.getExtension(ID);
    assert.ok(extension, `the extension ${ID} is not there`);
    assert.equal(extension.isActive, false);
    const watch = watchReads();
    try {
      const plain = await show('import os\n\n\nclass Server:\n    enabled = True\n');
      await until('the extension is active', () => extension.isActive);
      // Asked for all that it tells of a file, so that it has looked at this one.
      assert.deepEqual(await lensesOf(plain), []);
      assert.deepEqual(await fixesOf(plain), []);
      assert.deepEqual(watch.reads(), []);

      // What was watched for is seen when it happens.
      const server = await show('import nemo_gym\n\n\nclass Server:\n    ray_enabled = True\n');
      assert.equal((await lensesOf(server)).length, 1);
      assert.deepEqual(watch.reads().sort(), ['tree-sitter-python.wasm', 'web-tree-sitter.wasm']);
      const [folder] = vscode.workspace.workspaceFolders ?? [];
      assert.ok(folder);
      await vscode.workspace.fs.readFile(vscode.Uri.joinPath(folder.uri, 'gym', 'with_ray.py'));
      assert.ok(watch.reads().includes('with_ray.py'));
    } finally {
      watch.end();
    }
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

async function show(content: string): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument({ language: 'python', content });
  await vscode.window.showTextDocument(document);
  return document;
}

const lensesOf = ({ uri }: vscode.TextDocument): Thenable<vscode.CodeLens[]> =>
  vscode.commands.executeCommand('vscode.executeCodeLensProvider', uri);

const fixesOf = ({ uri }: vscode.TextDocument): Thenable<vscode.CodeAction[]> =>
  vscode.commands.executeCommand(
    'vscode.executeCodeActionProvider',
    uri,
    new vscode.Range(0, 0, 0, 0),
    'source.fixAll.shardboard',
  );

/**
 * Sees which grammars, Python files and configurations are read in this process, which is that of the extension too:
 * through Node, and through VS Code, which reads files on disk with Node.
 */
function watchReads(): { reads(): string[]; end(): void } {
  const seen: string[] = [];
  const { open, readFile } = fs;
  const ofPromises = { open: fs.promises.open, readFile: fs.promises.readFile };
  const watched =
    <T extends unknown[], R>(read: (...args: T) => R) =>
    (...args: T): R => {
      const [path] = args;
      const name = basename(String(path));
      if (/\.(?:py|ya?ml|wasm)$/.test(name)) {
        seen.push(name);
      }
      return read(...args);
    };
  const replace = (callbacks: object, promises: object): void => {
    Object.assign(fs, callbacks);
    Object.assign(fs.promises, promises);
    // VS Code is made of ES modules, which keep their own view of Node's.
    syncBuiltinESMExports();
  };
  replace(
    { open: watched(open), readFile: watched(readFile) },
    { open: watched(ofPromises.open), readFile: watched(ofPromises.readFile) },
  );
  return { reads: () => [...new Set(seen)], end: () => replace({ open, readFile }, ofPromises) };
}

/** Waits for something that no event tells of; Mocha's own time limit ends it. */
async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries += 1) {
    assert.ok(tries < 500, `not so after 50 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
