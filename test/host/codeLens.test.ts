import assert from 'node:assert/strict';
import * as vscode from 'vscode';

suite('code lenses', () => {
  suiteSetup(async () => {
    await vscode.extensions.getExtension('shardboard.shardboard')?.activate();
  });

  teardown(async () => {
    await setEnabled(undefined);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  test('a server with Ray says so and offers to start it', async () => {
    const document = await openSample('with_ray.py');
    await assertLenses(document, ['Ray: on', 'Start Ray']);
    const [flag, start] = await lensesOf(document);
    assert.deepEqual(flag?.range, rangeOf(document, 'CodeServer'));
    assert.deepEqual(start?.range, flag?.range);
    assert.equal(start?.command?.command, 'shardboard.startCluster');
  });

  test('a click on what the class says leads to the declaration', async () => {
    const document = await openSample('with_ray.py');
    await clickFirst(document);
    assert.deepEqual(selectedIn(document), rangeOf(document, 'ray_enabled = True'));
  });

  test('a server without Ray says so and offers nothing', async () => {
    const document = await openSample('without_ray.py');
    await assertLenses(document, ['Ray: off']);
    assert.deepEqual((await lensesOf(document))[0]?.range, rangeOf(document, 'PolitenessServer'));
  });

  test('a server that does not say is told apart', async () => {
    const document = await openSample('undeclared.py');
    await assertLenses(document, ['Ray: not declared']);
    assert.deepEqual((await lensesOf(document))[0]?.range, rangeOf(document, 'LengthServer'));
  });

  test('a file without a server shows nothing', async () => {
    const content = '# ray_enabled = True\n\n\nclass Server:\n    """run_webserver of nemo_gym"""\n';
    await assertLenses(await vscode.workspace.openTextDocument({ language: 'python', content }), []);
  });

  test('lenses follow what is typed, also after an emoji', async () => {
    const document = await openSample('without_ray.py');
    await assertLenses(document, ['Ray: off']);
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, rangeOf(document, 'ray_enabled = False'), 'note = "😀"; ray_enabled = True');
    assert.ok(await vscode.workspace.applyEdit(edit));
    await assertLenses(document, ['Ray: on', 'Start Ray']);
    await clickFirst(document);
    assert.deepEqual(selectedIn(document), rangeOf(document, 'ray_enabled = True'));
  });

  test('the setting turns them off and on', async () => {
    const document = await openSample('with_ray.py');
    await setEnabled(false);
    await assertLenses(document, []);
    await setEnabled(undefined);
    await assertLenses(document, ['Ray: on', 'Start Ray']);
  });
});

async function openSample(name: string): Promise<vscode.TextDocument> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'the samples are not open');
  const document = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder.uri, 'gym', name));
  await vscode.window.showTextDocument(document);
  return document;
}

async function lensesOf(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
  return vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', document.uri);
}

async function assertLenses(document: vscode.TextDocument, titles: readonly string[]): Promise<void> {
  const lenses = await lensesOf(document);
  assert.deepEqual(
    lenses.map(({ command }) => command?.title),
    titles,
  );
}

async function clickFirst(document: vscode.TextDocument): Promise<void> {
  const command = (await lensesOf(document))[0]?.command;
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
