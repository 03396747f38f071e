/** A workspace of two folders that each have servers of their own, and what is open besides: see ../../support/twoFolders. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { registerMemoryFileSystem } from '../../support/memoryFileSystem';
import { configurationText, serverFiles } from '../../support/twoFolders';

interface Line {
  readonly item: vscode.TreeItem;
  readonly node: unknown;
}

suite('two folders', () => {
  let tree: vscode.TreeDataProvider<unknown>;

  suiteSetup(async () => {
    const extension = vscode.extensions.getExtension('shardboard.shardboard');
    assert.ok(extension);
    tree = (await extension.activate()).servers;
    await vscode.commands.executeCommand('shardboard.servers.focus');
    await until('the tree is complete', async () => (await below('Configurations')).length === 4);
  });

  teardown(async () => {
    for (const terminal of vscode.window.terminals) {
      terminal.dispose();
    }
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  test('the tree says which folder each is in', async () => {
    await until('', async () => (await below('Resources servers')).length === 3);
    assert.deepEqual(await below('Resources servers'), [
      'only_two off, Server · two',
      'words off, Server · one',
      'words off, Server · two',
    ]);
  });

  test('each configuration is judged by the Gym of its folder, and finds what Gym finds from there', async () => {
    assert.deepEqual(await below('Configurations'), [
      'needs_two.yaml Starts Ray: cannot be settled (because of only_two) · one',
      'words.yaml Starts Ray: no server asks for it, but Gym 0.7 starts it anyway · one/resources_servers/words/configs',
      'only_two.yaml Starts Ray: no · two/resources_servers/only_two/configs',
      'words.yaml Starts Ray: no · two/resources_servers/words/configs',
    ]);
    assert.deepEqual(await titlesOn(inFolder('one', 'resources_servers/words/configs/words.yaml')), [
      'Starts Ray: no server asks for it, but Gym 0.7 starts it anyway',
      'Run with Gym',
      'Ray: off',
    ]);
    assert.deepEqual(await titlesOn(inFolder('two', 'resources_servers/words/configs/words.yaml')), [
      'Starts Ray: no',
      'Run with Gym',
      'Ray: off',
    ]);
  });

  for (const [folder, environment] of [
    ['one', '.venv'],
    ['two', 'env'],
  ] as const) {
    test(`a server of folder ${folder} has its configuration there, and runs with its Gym`, async () => {
      const server = inFolder(folder, 'resources_servers/words/app.py');
      await vscode.window.showTextDocument(server);
      await vscode.commands.executeCommand('shardboard.goToConfiguration');
      const configuration = inFolder(folder, 'resources_servers/words/configs/words.yaml');
      assert.equal(vscode.window.activeTextEditor?.document.uri.path, configuration.path);
      await vscode.commands.executeCommand('shardboard.runServer', server);
      const log = inFolder(folder, `${environment}/gym.log`).fsPath;
      await until('Gym runs', async () => (await readFile(log, 'utf8')).includes('server '));
      assert.deepEqual((await readFile(log, 'utf8')).split('\n').slice(0, 2), [
        `arguments ${JSON.stringify(['env', 'start', '--config', configuration.fsPath])}`,
        `folder ${inFolder(folder, '').fsPath.replace(/\/$/, '')}`,
      ]);
      await vscode.commands.executeCommand('shardboard.stopServer', configuration);
    });
  }

  test('a folder that is added brings its servers, and takes them along', async () => {
    const three = vscode.Uri.joinPath(inFolder('one', ''), '..', 'three');
    const many = async (): Promise<unknown[]> => [
      (await below('Resources servers')).length,
      (await below('Configurations')).length,
    ];
    vscode.workspace.updateWorkspaceFolders(2, 0, { uri: three });
    await until('its server and its configuration are there', async () => String(await many()) === '4,5');
    vscode.workspace.updateWorkspaceFolders(2, 1);
    await until('they are gone', async () => String(await many()) === '3,4');
  });

  test('a server outside of the workspace is read, and found by its configuration beside it, but is not in the tree', async () => {
    const outside = vscode.Uri.joinPath(inFolder('one', ''), '../three/resources_servers/words');
    const server = vscode.Uri.joinPath(outside, 'app.py');
    const configuration = vscode.Uri.joinPath(outside, 'configs/words.yaml');
    assert.deepEqual(await titlesOn(server), ['Ray: off', 'Started here', 'Run server']);
    assert.deepEqual((await titlesOn(configuration)).slice(1), ['Run with Gym', 'Ray: off']);
    await edit(server, 'False', 'True');
    assert.deepEqual((await titlesOn(server))[0], 'Ray: on');
    await vscode.commands.executeCommand('shardboard.goToConfiguration', server);
    assert.equal(vscode.window.activeTextEditor?.document.uri.path, configuration.path);
    assert.equal((await below('Resources servers')).length, 3);
    await vscode.window.showTextDocument(server);
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  test('a server outside of the workspace runs with the Gym of the first folder, where it stands', async () => {
    const three = vscode.Uri.joinPath(inFolder('one', ''), '../three');
    const log = inFolder('one', '.venv/gym.log').fsPath;
    const runs = async (): Promise<string[]> =>
      (await readFile(log, 'utf8')).split('\n').filter((line) => line === `folder ${three.fsPath}`);
    assert.deepEqual(await runs(), []);
    await vscode.commands.executeCommand(
      'shardboard.runServer',
      vscode.Uri.joinPath(three, 'resources_servers/words/app.py'),
    );
    await until('Gym runs', async () => (await runs()).length === 1);
    await vscode.commands.executeCommand('shardboard.stopServer');
  });

  test('a text that was never saved is read, and is not taken for a file', async () => {
    const content = serverFiles('words')['resources_servers/words/app.py'] ?? '';
    const document = await vscode.workspace.openTextDocument({ language: 'python', content });
    assert.deepEqual(await titlesOn(document.uri), ['Ray: off', 'Started here']);
    const yaml = await vscode.workspace.openTextDocument({ language: 'yaml', content: configurationText('words') });
    assert.equal((await titlesOn(yaml.uri)).includes('Run with Gym'), false);
  });

  test('another version of a server does not count for the file', async () => {
    const server = inFolder('two', 'resources_servers/words/app.py');
    await vscode.window.showTextDocument(server);
    const text = (await vscode.workspace.openTextDocument(server)).getText();
    const other = vscode.workspace.registerTextDocumentContentProvider('other-version', {
      provideTextDocumentContent: () => text.replace('False', 'True'),
    });
    try {
      const old = server.with({ scheme: 'other-version' });
      await vscode.languages.setTextDocumentLanguage(await vscode.workspace.openTextDocument(old), 'python');
      assert.equal((await titlesOn(old))[0], 'Ray: on');
      assert.equal((await titlesOn(inFolder('two', 'resources_servers/words/configs/words.yaml'))).at(-1), 'Ray: off');
    } finally {
      other.dispose();
    }
  });

  test('a folder that is nowhere on disk is read, and nothing in it is run', async () => {
    const files = Object.fromEntries(Object.entries(serverFiles('far')).map(([path, text]) => [`/far/${path}`, text]));
    const fileSystem = registerMemoryFileSystem('far-away', files);
    try {
      const root = vscode.Uri.parse('far-away:/far');
      vscode.workspace.updateWorkspaceFolders(2, 0, { uri: root });
      await until('its configuration is there', async () => (await below('Configurations')).length === 5);
      assert.deepEqual((await below('Resources servers'))[0], 'far off, Server · far');
      const server = vscode.Uri.joinPath(root, 'resources_servers/far/app.py');
      assert.deepEqual(await titlesOn(server), ['Ray: off', 'Started here']);
      const yaml = vscode.Uri.joinPath(root, 'resources_servers/far/configs/far.yaml');
      assert.deepEqual(await titlesOn(yaml), ['Starts Ray: no', 'Ray: off']);
      await vscode.window.showTextDocument(server);
      await vscode.commands.executeCommand('shardboard.goToConfiguration');
      assert.equal(String(vscode.window.activeTextEditor?.document.uri), String(yaml));
    } finally {
      vscode.workspace.updateWorkspaceFolders(2, 1);
      fileSystem.dispose();
    }
    await until('it is gone', async () => (await below('Configurations')).length === 4);
  });

  async function below(group: string): Promise<string[]> {
    const found = (await lines()).find(({ item }) => item.label === group);
    return found ? (await lines(found.node)).map(({ item }) => `${item.label} ${item.description}`) : [];
  }

  /** The lines below one, as the view draws them. */
  async function lines(node?: unknown): Promise<Line[]> {
    const children = (await tree.getChildren(node)) ?? [];
    return Promise.all(children.map(async (child) => ({ node: child, item: await tree.getTreeItem(child) })));
  }
});

function inFolder(name: string, path: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.find((candidate) => candidate.name === name);
  assert.ok(folder, `there is no folder ${name}`);
  return path === '' ? folder.uri : vscode.Uri.joinPath(folder.uri, path);
}

async function titlesOn(file: vscode.Uri): Promise<(string | undefined)[]> {
  await vscode.workspace.openTextDocument(file);
  const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', file);
  return lenses.map(({ command }) => command?.title);
}

async function edit(file: vscode.Uri, from: string, to: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument(file);
  const start = document.positionAt(document.getText().indexOf(from));
  const change = new vscode.WorkspaceEdit();
  change.replace(file, new vscode.Range(start, start.translate(0, from.length)), to);
  assert.ok(await vscode.workspace.applyEdit(change));
}

/** Waits for something that no event tells of; Mocha's own time limit ends it. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries += 1) {
    assert.ok(tries < 300, `not so after 30 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
