import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type FakeGym, isAlive, makeFakeGym } from '../support/fakeGym';

suite('running a Gym server', () => {
  let folder: string;
  let gym: FakeGym;
  let before: string | undefined;

  suiteSetup(async () => {
    await vscode.extensions.getExtension('shardboard.shardboard')?.activate();
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
    await vscode.commands.executeCommand('shardboard.stopServer');
    assert.deepEqual((await gym.log()).slice(3), ['SIGINT', 'ended']);
    assert.equal(await isAlive(server), false);
    closeTerminals();
  });

  test('a closed terminal leaves nothing behind', async () => {
    const server = await start();
    closeTerminals();
    await lineOf('ended');
    assert.equal(await isAlive(server), false);
  });

  /** Runs the sample server that needs no Ray, and waits until it is up; answers the process of its server. */
  async function start(): Promise<number> {
    const [root] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(root);
    const server = vscode.Uri.joinPath(root.uri, 'resources_servers', 'word_count', 'app.py');
    await vscode.commands.executeCommand('shardboard.runServer', server);
    return Number((await lineOf('server ')).slice('server '.length));
  }

  async function lineOf(start: string): Promise<string> {
    for (;;) {
      const line = (await gym.log()).find((candidate) => candidate.startsWith(start));
      if (line !== undefined) {
        return line;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
});

function closeTerminals(): void {
  for (const terminal of vscode.window.terminals.filter(({ name }) => name.startsWith('Gym: '))) {
    terminal.dispose();
  }
}

async function setPython(path: string | undefined): Promise<void> {
  await vscode.workspace
    .getConfiguration('shardboard')
    .update('pythonPath', path, vscode.ConfigurationTarget.Workspace);
}
