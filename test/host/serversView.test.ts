import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { acceptFirst, until } from './steps';

interface Line {
  readonly item: vscode.TreeItem;
  readonly node: unknown;
}

suite('servers view', () => {
  let tree: vscode.TreeDataProvider<unknown>;

  suiteSetup(async () => {
    const extension = vscode.extensions.getExtension('shardboard.shardboard');
    assert.ok(extension);
    tree = (await extension.activate()).servers;
    await vscode.commands.executeCommand('shardboard.servers.focus');
    await until('the tree has its configurations', async () => (await find('Configurations')) !== undefined);
  });

  teardown(async () => {
    await vscode.commands.executeCommand('shardboard.clearServersFilter');
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  test('groups the servers by kind, each with its count', async () => {
    await until('all servers are there', async () => (await find('Other servers'))?.item.description === '3');
    assert.deepEqual(textOf(await lines()), ['Resources servers 2', 'Other servers 3', 'Configurations 2']);
  });

  test('says of each server what it says about Ray, and a click opens that place', async () => {
    const servers = await lines((await find('Resources servers'))?.node);
    assert.deepEqual(textOf(servers), ['code_tests on, CodeTestsServer', 'word_count off, WordCountServer']);
    const command = servers[0]?.item.command;
    assert.ok(command);
    await vscode.commands.executeCommand(command.command, ...(command.arguments ?? []));
    assert.equal(selected(), 'ray_enabled = True');
  });

  test('has under each server the configurations that name it, with their verdicts', async () => {
    const [server] = await lines((await find('Resources servers'))?.node);
    assert.deepEqual(textOf(await lines(server?.node)), [
      'code_tests.yaml Starts Ray: yes (because of code_tests) · resources_servers/code_tests/configs',
    ]);
  });

  test('has under each configuration what it starts, also what comes from others', async () => {
    const [configuration] = await lines((await find('Configurations'))?.node);
    assert.deepEqual(textOf(await lines(configuration?.node)), [
      'word_count off, resources_servers/word_count',
      'code_tests on, resources_servers/code_tests',
    ]);
  });

  test('keeps the ids of its lines', async () => {
    const ids = async (): Promise<unknown[]> => (await lines()).map(({ item }) => item.id);
    const before = await ids();
    await vscode.commands.executeCommand('shardboard.refreshServers');
    assert.deepEqual(await ids(), before);
  });

  test('the filter shows only the servers with a flag, and is taken back', async () => {
    await acceptFirst(vscode.commands.executeCommand('shardboard.filterServers'));
    assert.deepEqual(textOf(await lines()), ['Resources servers 1', 'Other servers 1']);
    await vscode.commands.executeCommand('shardboard.clearServersFilter');
    assert.equal((await lines()).length, 3);
  });

  test('a server that is written anew is read anew', async () => {
    const file = sample('resources_servers/word_count/app.py');
    const text = await vscode.workspace.fs.readFile(file);
    try {
      const on = new TextDecoder().decode(text).replace('    ray_enabled = False', '    ray_enabled = True');
      await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(on));
      await until('the tree shows it', async () => {
        const servers = await lines((await find('Resources servers'))?.node);
        return textOf(servers)[1] === 'word_count on, WordCountServer';
      });
    } finally {
      await vscode.workspace.fs.writeFile(file, text);
    }
    await until('the tree shows what was', async () => {
      const servers = await lines((await find('Resources servers'))?.node);
      return textOf(servers)[1] === 'word_count off, WordCountServer';
    });
  });

  test('a folder that comes and goes brings its server and takes it along', async () => {
    const folder = sample('resources_servers/new_one');
    const source = await vscode.workspace.fs.readFile(sample('resources_servers/word_count/app.py'));
    const count = async (): Promise<unknown> => (await find('Resources servers'))?.item.description;
    await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(folder, 'app.py'), source);
    try {
      await until('the tree has it', async () => (await count()) === '3');
    } finally {
      await vscode.workspace.fs.delete(folder, { recursive: true });
    }
    await until('the tree has it no longer', async () => (await count()) === '2');
  });

  test('goes from a server to its only configuration', async () => {
    await show('resources_servers/code_tests/app.py');
    await vscode.commands.executeCommand('shardboard.goToConfiguration');
    assert.match(vscode.window.activeTextEditor?.document.uri.path ?? '', /code_tests\.yaml$/);
    assert.equal(selected(), 'code_tests');
  });

  test('lets a person choose when several configurations name a server', async () => {
    const second = sample('resources_servers/word_count/configs/second.yaml');
    const text = 'second:\n  resources_servers:\n    word_count:\n      entrypoint: app.py\n';
    await vscode.workspace.fs.writeFile(second, new TextEncoder().encode(text));
    try {
      await until(
        'the tree has three configurations',
        async () => (await find('Configurations'))?.item.description === '3',
      );
      await show('resources_servers/word_count/app.py');
      await acceptFirst(vscode.commands.executeCommand('shardboard.goToConfiguration'));
      assert.match(vscode.window.activeTextEditor?.document.uri.path ?? '', /second\.yaml$/);
    } finally {
      await vscode.workspace.fs.delete(second);
    }
    await until('the tree has two again', async () => (await find('Configurations'))?.item.description === '2');
  });

  test('goes from the instance at the cursor to its server', async () => {
    const editor = await show('resources_servers/code_tests/configs/code_tests.yaml');
    const at = editor.document.positionAt(editor.document.getText().indexOf('entrypoint'));
    editor.selection = new vscode.Selection(at, at);
    await vscode.commands.executeCommand('shardboard.goToServer');
    assert.match(vscode.window.activeTextEditor?.document.uri.path ?? '', /code_tests\/app\.py$/);
    assert.equal(selected(), 'ray_enabled = True');
  });

  test('lets a person choose among the servers of a configuration', async () => {
    const editor = await show('resources_servers/code_tests/configs/code_tests.yaml');
    editor.selection = new vscode.Selection(0, 0, 0, 0);
    await acceptFirst(vscode.commands.executeCommand('shardboard.goToServer'));
    assert.match(vscode.window.activeTextEditor?.document.uri.path ?? '', /word_count\/app\.py$/);
  });

  /** The lines below one, as the view draws them. */
  async function lines(node?: unknown): Promise<Line[]> {
    const children = (await tree.getChildren(node)) ?? [];
    return Promise.all(children.map(async (child) => ({ node: child, item: await tree.getTreeItem(child) })));
  }

  async function find(label: string): Promise<Line | undefined> {
    return (await lines()).find(({ item }) => item.label === label);
  }
});

suite('lenses on configurations', () => {
  teardown(async () => {
    await setEnabled(undefined);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  test('one says whether Gym starts Ray, and each server what it says', async () => {
    const { document } = await show('resources_servers/code_tests/configs/code_tests.yaml');
    const lenses = await lensesOf(document);
    assert.deepEqual(
      lenses.map(({ command, range }) => [range.start.line, command?.title]),
      [
        [0, 'Starts Ray: yes (because of code_tests)'],
        [0, 'Run with Gym'],
        [7, 'Ray: on'],
      ],
    );
    const command = lenses[0]?.command;
    assert.ok(command);
    await vscode.commands.executeCommand(command.command, ...(command.arguments ?? []));
    assert.equal(selected(), 'ray_enabled = True');
  });

  test('they follow what is typed', async () => {
    const { document } = await show('resources_servers/code_tests/configs/code_tests.yaml');
    const edit = new vscode.WorkspaceEdit();
    const start = document.getText().indexOf('entrypoint: app.py\n');
    edit.replace(
      document.uri,
      new vscode.Range(document.positionAt(start), document.positionAt(start + 'entrypoint: app.py'.length)),
      'entrypoint: gone.py',
    );
    assert.ok(await vscode.workspace.applyEdit(edit));
    const titles = (await lensesOf(document)).map(({ command }) => command?.title);
    assert.deepEqual(titles, [
      'Starts Ray: cannot be settled (because of code_tests)',
      'Run with Gym',
      'Ray: file not found',
    ]);
  });

  test('the setting turns them off', async () => {
    const { document } = await show('resources_servers/word_count/configs/word_count.yaml');
    await setEnabled(false);
    assert.deepEqual(await lensesOf(document), []);
  });

  test('a YAML file that does not speak of Gym has none', async () => {
    const document = await vscode.workspace.openTextDocument({ language: 'yaml', content: 'services:\n  web: 1\n' });
    assert.deepEqual(await lensesOf(document), []);
  });
});

function textOf(lines: readonly Line[]): string[] {
  return lines.map(({ item }) => `${item.label} ${item.description}`);
}

function sample(path: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'the samples are not open');
  return vscode.Uri.joinPath(folder.uri, path);
}

async function show(path: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(sample(path)));
}

function selected(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor?.document.getText(editor.selection);
}

async function lensesOf(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
  return vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', document.uri);
}

async function setEnabled(value: boolean | undefined): Promise<void> {
  await vscode.workspace
    .getConfiguration('shardboard')
    .update('codeLens.enabled', value, vscode.ConfigurationTarget.Workspace);
}
