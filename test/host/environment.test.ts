import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { emptyEnvironment, rayEnvironment } from '../support/pythonEnvironments';

type Pick = vscode.QuickPick<vscode.QuickPickItem>;

suite('setting up the Python environment', () => {
  let folder: string;
  let python: string;
  let before: string | undefined;
  let restoreWindow: () => void;
  /** The quick picks that were made, the last one last. */
  let picks: Pick[];
  let messages: string[];
  /** What is answered to a message. */
  let answer: (message: string, choices: readonly string[]) => string | undefined;

  suiteSetup(async () => {
    await vscode.extensions.getExtension('shardboard.shardboard')?.activate();
  });

  setup(async () => {
    folder = await mkdtemp(join(tmpdir(), 'environment-'));
    python = await makePython(folder);
    picks = [];
    messages = [];
    answer = () => undefined;
    restoreWindow = listenToWindow();
    before = vscode.workspace.getConfiguration('shardboard').inspect<string>('pythonPath')?.workspaceValue;
    await setPython(python);
  });

  teardown(async () => {
    restoreWindow();
    await setPython(before);
    await rm(folder, { recursive: true, force: true });
  });

  test('shows which Python it is and why, and installs nothing when it is left', async () => {
    const command = vscode.commands.executeCommand('shardboard.setUpEnvironment');
    const pick = await shown(1, 'Install Ray');
    const [interpreter] = pick.items.filter(({ label }) => label.includes('Python 3.12.1'));
    assert.equal(interpreter?.description, python);
    assert.equal(interpreter?.detail, 'From the setting shardboard.pythonPath');
    // Enter at once is no yes to anything: the first row only tells.
    await until(() => pick.activeItems.length > 0);
    assert.deepEqual(pick.activeItems, [interpreter]);
    await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
    pick.hide();
    await command;
    assert.deepEqual(await calls(), []);
  });

  test('follows the chosen Python while it is open', async () => {
    const command = vscode.commands.executeCommand('shardboard.setUpEnvironment');
    const pick = await shown(1, 'Install Ray');
    const other = await makePython(await mkdtemp(join(folder, 'other-')));
    await setPython(other);
    await until(() => pick.items.some(({ description }) => description === other));
    pick.hide();
    await command;
  });

  test('installs exactly what is chosen, looks again, and shows it', async () => {
    const command = vscode.commands.executeCommand('shardboard.setUpEnvironment');
    await choose(await shown(1, 'Install Ray'), 'Install Ray');
    const again = await shown(2, 'with its dashboard');
    again.hide();
    await command;
    assert.deepEqual(await calls(), ['-m pip install --compile --disable-pip-version-check --no-input ray[default]']);
    assert.deepEqual(messages, []);
  });

  test('a cluster that cannot start says what is missing, and its button installs that', async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const command = vscode.commands.executeCommand('shardboard.startCluster');
    await until(() => messages.length > 0);
    await command;
    assert.match(
      messages[0] ?? '',
      /^The environment of .* cannot be used yet\. Ray is not installed\. \[Install Ray, Set up Python\]$/,
    );
    assert.deepEqual(await calls(), []);

    answer = (_message, [first]) => first;
    await vscode.commands.executeCommand('shardboard.installPackage', python, 'ray');
    await until(() => messages.length > 2);
    assert.deepEqual(await calls(), [
      '-m pip install --compile --disable-pip-version-check --no-input ray[default]',
      // The button of the message that says what is still missing.
      '-m pip install --compile --disable-pip-version-check --no-input nemo-evaluator[ray,stats]~=0.3.0 ray==2.60.0',
    ]);
  });

  test('an installation that ends well and brings nothing is no success', async () => {
    await writeFile(join(folder, 'useless'), '');
    await vscode.commands.executeCommand('shardboard.installPackage', python, 'ray');
    assert.match(
      messages[0] ?? '',
      /^Install Ray: it ended without an error, but .*: Ray is not installed\. \[Show log\]$/,
    );
  });

  test('without pip it asks before anything is put there', async () => {
    await writeFile(
      join(folder, 'answer'),
      JSON.stringify({ ...emptyEnvironment, executable: python, pip: false, packageFolders: [] }),
    );
    await vscode.commands.executeCommand('shardboard.installPackage', python, 'ray');
    assert.match(messages[0] ?? '', /^Install Ray: the environment has no pip, .* \[Install pip first\]$/);
    assert.deepEqual(await calls(), []);
  });

  /** What would be told, in place of what is: a message stays until somebody clicks. */
  function listenToWindow(): () => void {
    const { createQuickPick, showErrorMessage, showInformationMessage } = vscode.window;
    const show = async (message: string, ...rest: unknown[]): Promise<string | undefined> => {
      const choices = rest.filter((choice) => typeof choice === 'string');
      messages.push(`${message} [${choices.join(', ')}]`);
      return answer(message, choices);
    };
    Object.assign(vscode.window, {
      createQuickPick: () => {
        const pick = createQuickPick();
        picks.push(pick);
        return pick;
      },
      showErrorMessage: show,
      showInformationMessage: show,
    });
    return () => Object.assign(vscode.window, { createQuickPick, showErrorMessage, showInformationMessage });
  }

  /** The n-th quick pick, when it has a row with this text. */
  async function shown(count: number, text: string): Promise<Pick> {
    await until(() => picks[count - 1]?.items.some(({ label }) => label.includes(text)) === true);
    const pick = picks[count - 1];
    assert.ok(pick);
    return pick;
  }

  async function choose(pick: Pick, text: string): Promise<void> {
    const active = new Promise((resolve) => pick.onDidChangeActive(resolve));
    pick.activeItems = pick.items.filter(({ label }) => label.includes(text));
    // The window has it only then.
    await active;
    await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
  }

  async function calls(): Promise<string[]> {
    const text = await readFile(join(folder, 'calls'), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '');
  }

  /**
   * A program in place of an interpreter: it has nothing, and after it was called with pip it has Ray. It writes down
   * each call but the question what it has.
   */
  async function makePython(parent: string): Promise<string> {
    const path = join(parent, 'python');
    const answerOf = (environment: typeof emptyEnvironment): string =>
      JSON.stringify({ ...environment, executable: path, packageFolders: [parent] });
    await writeFile(join(parent, 'answer'), answerOf(emptyEnvironment));
    await writeFile(join(parent, 'after'), answerOf(rayEnvironment));
    await writeFile(
      path,
      `#!/bin/sh
if [ "$1" = -c ]; then
  cat '${join(parent, 'answer')}'
else
  echo "$*" >> '${join(parent, 'calls')}'
  [ -e '${join(parent, 'useless')}' ] || cp '${join(parent, 'after')}' '${join(parent, 'answer')}'
fi
`,
    );
    await chmod(path, 0o755);
    return path;
  }
});

async function setPython(path: string | undefined): Promise<void> {
  await vscode.workspace
    .getConfiguration('shardboard')
    .update('pythonPath', path, vscode.ConfigurationTarget.Workspace);
}

/** Waits for what no event tells; Mocha's own time limit ends it. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
