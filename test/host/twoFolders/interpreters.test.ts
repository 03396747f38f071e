/** Which Python each folder of a workspace has, beside a stand-in for VS Code's Python Environments extension. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';

interface FakePythonExtension {
  choose(folder: vscode.Uri, executable: string | undefined): void;
}

suite('the Python of two folders', () => {
  let extension: FakePythonExtension;
  let restore: () => void;
  let picks: vscode.QuickPick<vscode.QuickPickItem>[];

  suiteSetup(async () => {
    await vscode.extensions.getExtension('shardboard.shardboard')?.activate();
    const found = vscode.extensions.getExtension<FakePythonExtension>('ms-python.vscode-python-envs');
    assert.ok(found, 'the stand-in is not there');
    extension = await found.activate();
  });

  setup(() => {
    picks = [];
    const { createQuickPick } = vscode.window;
    const listened = (): vscode.QuickPick<vscode.QuickPickItem> => {
      const pick = createQuickPick();
      picks.push(pick);
      return pick;
    };
    Object.assign(vscode.window, { createQuickPick: listened });
    restore = () => Object.assign(vscode.window, { createQuickPick });
  });

  teardown(() => {
    restore();
    extension.choose(folder('one'), undefined);
  });

  test('is that of the folder that is asked for, and the Python extension has a word for each', async () => {
    const ownPython = `${folder('one').fsPath}/.venv/bin/python`;
    const setPython = `${folder('two').fsPath}/env/bin/python`;
    await shows('one', async (rows) => {
      await until(() => rows().includes(ownPython) && rows().includes("from the workspace's .venv"));
      extension.choose(folder('one'), setPython);
      // While it is shown.
      await until(() => rows().includes(setPython) && rows().includes('from the Python Environments extension'));
      assert.ok(!rows().includes(ownPython));
    });
    await shows('two', async (rows) => {
      await until(() => rows().includes(setPython) && rows().includes('from the setting shardboard.pythonPath'));
    });
  });

  /** Opens what the command shows for a folder, hands over its text as it is at each time, and closes it. */
  async function shows(name: string, look: (rows: () => string) => Promise<void>): Promise<void> {
    const command = vscode.commands.executeCommand('shardboard.setUpEnvironment', folder(name));
    await until(() => picks.length > 0);
    const [pick] = picks.splice(0);
    assert.ok(pick);
    await look(() =>
      pick.items.map(({ label, description, detail }) => `${label} ${description} ${detail}`).join('\n'),
    );
    pick.hide();
    await command;
  }
});

function folder(name: string): vscode.Uri {
  const found = vscode.workspace.workspaceFolders?.find((one) => one.name === name);
  assert.ok(found);
  return found.uri;
}

/** Waits for what no event tells; Mocha's own time limit ends it. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
