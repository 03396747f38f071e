import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type FakeGym, isAlive, makeFakeGym } from '../support/fakeGym';

suite('running a Gym server', () => {
  let folder: string;
  let gym: FakeGym;
  let tree: vscode.TreeDataProvider<unknown>;
  let before: string | undefined;

  suiteSetup(async () => {
    const extension = vscode.extensions.getExtension('shardboard.shardboard');
    assert.ok(extension);
    tree = (await extension.activate()).servers;
    folder = await mkdtemp(join(tmpdir(), 'gym-'));
  });

  setup(async () => {
    gym = await makeFakeGym(await mkdtemp(join(folder, 'env ')));
    before = vscode.workspace.getConfiguration('shardboard').inspect<string>('pythonPath')?.workspaceValue;
    await setPython(gym.python);
  });

  teardown(async () => {
    await setPython(before);
  });

  suiteTeardown(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test('starts the configuration that names it, and stop interrupts it', async () => {
    const server = await start();
    const [given] = await gym.log();
    assert.match(given ?? '', /^arguments \["env","start","--config","[^"]*word_count\.yaml"\]$/);
    assert.equal(vscode.window.terminals.filter(({ name }) => name === 'Gym: word_count.yaml').length, 1);
    assert.deepEqual(await titlesOn(configuration()), ['Starts Ray: no', 'Stop Gym', 'Ray: off']);
    await vscode.commands.executeCommand('shardboard.stopServer');
    assert.deepEqual((await gym.log()).slice(-2), ['SIGINT', 'ended']);
    assert.equal(await isAlive(server), false);
    assert.deepEqual(await titlesOn(configuration()), ['Starts Ray: no', 'Run with Gym', 'Ray: off']);
    closeTerminals();
  });

  test('started again, it takes the place of its old terminal', async () => {
    await start();
    await vscode.commands.executeCommand('shardboard.stopServer');
    await start(2);
    const terminals = vscode.window.terminals.filter(({ name }) => name.startsWith('Gym: '));
    assert.equal(terminals.length, 1);
    await vscode.commands.executeCommand('shardboard.stopServer');
    closeTerminals();
  });

  test('for a server that no configuration names one is written, which runs it', async () => {
    const app = vscode.Uri.joinPath(root(), 'resources_servers', 'new one', 'app.py');
    await vscode.workspace.fs.writeFile(app, await vscode.workspace.fs.readFile(wordCount()));
    await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(app, '..', 'requirements.txt'), Buffer.from('nemo-gym\n'));
    try {
      await vscode.commands.executeCommand('shardboard.writeConfiguration', app);
      const written = vscode.Uri.joinPath(app, '..', 'configs', 'new one.yaml');
      assert.equal(vscode.window.activeTextEditor?.document.uri.path, written.path);
      assert.deepEqual(await titlesOn(written), ['Starts Ray: no', 'Run with Gym', 'Ray: off']);
      await vscode.commands.executeCommand('shardboard.runServer', written);
      await lineOf('server ');
      assert.match((await gym.log())[0] ?? '', /new one\.yaml"\]$/);
      await vscode.commands.executeCommand('shardboard.stopServer');
      assert.equal((await gym.log()).at(-1), 'ended');
    } finally {
      closeTerminals();
      await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
      await vscode.workspace.fs.delete(vscode.Uri.joinPath(app, '..'), { recursive: true });
    }
  });

  test('a closed terminal leaves nothing behind', async () => {
    const server = await start();
    closeTerminals();
    await lineOf('ended');
    assert.equal(await isAlive(server), false);
  });

  test('the tree says how far it is, and how it failed until its terminal is closed', async () => {
    await start();
    await until('it runs', async () => (await described()).startsWith('running · '));
    await vscode.commands.executeCommand('shardboard.stopServer');
    assert.match(await described(), /^Starts Ray: no/);
    await writeFile(gym.program, '#!/bin/sh\necho No such port\nexit 3\n');
    await vscode.commands.executeCommand('shardboard.runServer', wordCount());
    await until('it has failed', async () => (await described()).startsWith('failed (exit code 3) · '));
    closeTerminals();
    await until('it is as if nothing had been', async () => (await described()).startsWith('Starts Ray: no'));
  });

  /** What the tree says of the configuration of the sample server. */
  async function described(): Promise<string> {
    const groups = (await tree.getChildren()) ?? [];
    const configurations = (await tree.getChildren(groups.at(-1))) ?? [];
    const items = await Promise.all(configurations.map((node) => tree.getTreeItem(node)));
    return String(items.find(({ label }) => label === 'word_count.yaml')?.description);
  }

  /** Runs the sample server that needs no Ray, and waits until it is up; answers the process of its server. */
  async function start(times = 1): Promise<number> {
    await vscode.commands.executeCommand('shardboard.runServer', wordCount());
    return Number((await lineOf('server ', times)).slice('server '.length));
  }

  /** The line that starts so, for the n-th time. */
  async function lineOf(start: string, times = 1): Promise<string> {
    for (;;) {
      const lines = (await gym.log()).filter((candidate) => candidate.startsWith(start));
      const line = lines[times - 1];
      if (line !== undefined) {
        return line;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
});

function root(): vscode.Uri {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(folder);
  return folder.uri;
}

function wordCount(): vscode.Uri {
  return vscode.Uri.joinPath(root(), 'resources_servers', 'word_count', 'app.py');
}

function configuration(): vscode.Uri {
  return vscode.Uri.joinPath(root(), 'resources_servers', 'word_count', 'configs', 'word_count.yaml');
}

async function titlesOn(file: vscode.Uri): Promise<(string | undefined)[]> {
  await vscode.workspace.openTextDocument(file);
  const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', file);
  return lenses.map(({ command }) => command?.title);
}

function closeTerminals(): void {
  for (const terminal of vscode.window.terminals.filter(({ name }) => name.startsWith('Gym: '))) {
    terminal.dispose();
  }
}

/** Waits for something that no event tells of; Mocha's own time limit ends it. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries += 1) {
    assert.ok(tries < 300, `not so after 30 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function setPython(path: string | undefined): Promise<void> {
  await vscode.workspace
    .getConfiguration('shardboard')
    .update('pythonPath', path, vscode.ConfigurationTarget.Workspace);
}
