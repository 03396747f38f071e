import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';

const ON = ['Ray: on', 'Started here', 'Run server', 'Start Ray', 'Join Ray'];
const OFF = ['Ray: off', 'Started here', 'Run server'];
const IMPORT = 'from nemo_gym.base_resources_server import SimpleResourcesServer\n\n\n';
const SERVER = `${IMPORT}class Server(SimpleResourcesServer):\n    ray_enabled = False\n\n\n`;

suite('code lenses', () => {
  let outside: string;

  suiteSetup(async () => {
    await vscode.extensions.getExtension('shardboard.shardboard')?.activate();
    outside = await mkdtemp(join(tmpdir(), 'lenses-'));
  });

  suiteTeardown(async () => {
    await rm(outside, { recursive: true, force: true });
  });

  teardown(async () => {
    await setEnabled(undefined);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  test('a server with Ray says so and offers to start or join it', async () => {
    const document = await openSample('with_ray.py');
    await assertLenses(document, ON);
    const [flag, , , start] = await lensesOf(document);
    assert.deepEqual(flag?.range, rangeOf(document, 'CodeServer'));
    assert.deepEqual(start?.range, flag?.range);
    assert.equal(start?.command?.command, 'shardboard.startCluster');
  });

  test('a click on what the class says leads to the declaration, one on where it starts to the call', async () => {
    const document = await openSample('with_ray.py');
    await click(document, 0);
    assert.deepEqual(selectedIn(document), rangeOf(document, 'ray_enabled = True'));
    await click(document, 1);
    assert.deepEqual(selectedIn(document), rangeOf(document, 'CodeServer.run_webserver()'));
  });

  test('a server without Ray says so and offers none', async () => {
    const document = await openSample('without_ray.py');
    await assertLenses(document, OFF);
    assert.deepEqual((await lensesOf(document))[0]?.range, rangeOf(document, 'PolitenessServer'));
  });

  test('a server that does not say is told apart', async () => {
    const document = await openSample('undeclared.py');
    await assertLenses(document, ['Ray: not declared', 'Started here', 'Add declaration', 'Run server']);
    assert.deepEqual((await lensesOf(document))[0]?.range, rangeOf(document, 'LengthServer'));
  });

  test('a file without a server shows nothing', async () => {
    const content = '# ray_enabled = True\n\n\nclass Server:\n    """run_webserver of nemo_gym"""\n';
    await assertLenses(await vscode.workspace.openTextDocument({ language: 'python', content }), []);
  });

  test('what is inherited from another file names it, and a click opens it there', async () => {
    const base = await write('base.py', `${IMPORT}class Base(SimpleResourcesServer):\n    ray_enabled = True\n`);
    const app = await write(
      'app.py',
      'from base import Base\n\n\nclass Server(Base):\n    pass\n\n\nServer.run_webserver()\n',
    );
    const document = await open(app);
    const title = 'Ray: on, from Base in base.py, not read by the supervisor';
    // The first answer of all: no base is said to be missing while its file is being read.
    await assertLenses(document, [title, 'Started here', 'Add declaration', 'Run server', 'Start Ray']);
    await click(document, 0);
    const opened = vscode.window.activeTextEditor?.document;
    assert.equal(opened?.uri.path, base.path);
    assert.ok(opened);
    assert.deepEqual(selectedIn(opened), rangeOf(opened, 'ray_enabled = True'));
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  test('a file outside of the workspace has its lenses', async () => {
    const document = await open(await write('alone.py', `${SERVER}Server.run_webserver()\n`));
    await assertLenses(document, OFF);
  });

  test('a text without a file has them too', async () => {
    const document = await vscode.workspace.openTextDocument({ language: 'python', content: SERVER });
    await vscode.window.showTextDocument(document);
    await assertLenses(document, ['Ray: off']);
    await click(document, 0);
    assert.deepEqual(selectedIn(document), rangeOf(document, 'ray_enabled = False'));
  });

  test('cells of a notebook are read, magics and all', async () => {
    const cells = ['%pip install nemo-gym\nimport nemo_gym\n', SERVER].map(
      (text) => new vscode.NotebookCellData(vscode.NotebookCellKind.Code, text, 'python'),
    );
    const notebook = await vscode.workspace.openNotebookDocument('jupyter-notebook', new vscode.NotebookData(cells));
    await vscode.window.showNotebookDocument(notebook);
    const [magic, server] = notebook.getCells();
    assert.ok(magic && server);
    await assertLenses(magic.document, []);
    await assertLenses(server.document, ['Ray: off']);
  });

  test('lenses follow what is typed, also after an emoji', async () => {
    // Not a sample: VS Code in a browser saves by itself after a second.
    const document = await open(await write('typed.py', `${SERVER}Server.run_webserver()\n`));
    await assertLenses(document, OFF);
    await replace(document, 'ray_enabled = False', 'note = "😀"; ray_enabled = True');
    await assertLenses(document, ON);
    await click(document, 0);
    assert.deepEqual(selectedIn(document), rangeOf(document, 'ray_enabled = True'));
  });

  test('while a text is half typed nothing new is said; then the newest text counts', async () => {
    const document = await open(await write('half_typed.py', `${SERVER}Server.run_webserver()\n`));
    await assertLenses(document, OFF);
    await replace(document, 'ray_enabled = False', 'ray_enabled = (');
    // Nobody cancels this one: what it answers is what would be shown next.
    const asked = lensesOf(document);
    await replace(document, 'ray_enabled = (', 'ray_enabled = True');
    assert.deepEqual(titlesOf(await asked), ON);
  });

  test('a text that is left half typed is marked, with no value that is not written', async () => {
    const text = `${SERVER}def helper():\n    pass\n\n\nServer.run_webserver()\n`;
    const document = await open(await write('left_half_typed.py', text));
    await assertLenses(document, OFF);
    await replace(document, 'def helper():', 'def helper(:');
    await assertLenses(document, ['Ray: off, file does not parse', 'Started here']);
  });

  test('the setting turns them off and on', async () => {
    const document = await openSample('with_ray.py');
    await setEnabled(false);
    await assertLenses(document, []);
    await setEnabled(undefined);
    await assertLenses(document, ON);
  });

  async function write(name: string, text: string): Promise<vscode.Uri> {
    const path = join(outside, name);
    await writeFile(path, text);
    return vscode.Uri.file(path);
  }
});

async function openSample(name: string): Promise<vscode.TextDocument> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'the samples are not open');
  return open(vscode.Uri.joinPath(folder.uri, 'gym', name));
}

async function open(uri: vscode.Uri): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  return document;
}

async function replace(document: vscode.TextDocument, piece: string, by: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, rangeOf(document, piece), by);
  assert.ok(await vscode.workspace.applyEdit(edit));
}

async function lensesOf(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
  return vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', document.uri);
}

const titlesOf = (lenses: readonly vscode.CodeLens[]): string[] => lenses.map(({ command }) => command?.title ?? '');

async function assertLenses(document: vscode.TextDocument, titles: readonly string[]): Promise<void> {
  assert.deepEqual(titlesOf(await lensesOf(document)), titles);
}

async function click(document: vscode.TextDocument, index: number): Promise<void> {
  const command = (await lensesOf(document))[index]?.command;
  assert.ok(command);
  await vscode.commands.executeCommand(command.command, ...(command.arguments ?? []));
}

function selectedIn(document: vscode.TextDocument): vscode.Range {
  const editor = vscode.window.activeTextEditor;
  assert.equal(editor?.document, document);
  return new vscode.Range(editor.selection.start, editor.selection.end);
}

/** Where a piece of the text stands for the first time below the imports: the samples' docstrings speak of the flag too. */
function rangeOf(document: vscode.TextDocument, piece: string): vscode.Range {
  const text = document.getText();
  const offset = text.indexOf(piece, text.indexOf('import '));
  assert.ok(offset >= 0, `no ${piece} in the file`);
  return new vscode.Range(document.positionAt(offset), document.positionAt(offset + piece.length));
}

async function setEnabled(value: boolean | undefined): Promise<void> {
  await vscode.workspace
    .getConfiguration('shardboard')
    .update('codeLens.enabled', value, vscode.ConfigurationTarget.Workspace);
}
