/** A folder that nobody has trusted: it is read, nothing of it is run, and trusting it is enough, but for what is not saved. */
import assert from 'node:assert/strict';
import { appendFile, chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type FakeGym, makeFakeGym } from '../support/fakeGym';
import { projectRoot } from '../support/projectRoot';
import { serverFiles } from '../support/twoFolders';
import { type CodeWindow, openWindow } from '../support/vscode/window';

let folder: string;
/** What the programs of the folder that were run have written. */
let canary: string;
let gym: FakeGym;
let window: CodeWindow;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'untrusted-'));
  canary = `${folder}.canary`;
  await appendFile(canary, '');
  for (const [path, text] of Object.entries(serverFiles('words'))) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text.replace('    ray_enabled = False', '    pass'));
  }
  // Two environments that a folder could bring along: that of a setting, and a .venv.
  gym = await makeFakeGym(join(folder, 'environment'));
  const other = await makeFakeGym(join(folder, '.venv'));
  for (const python of [gym.python, other.python]) {
    await writeFile(python, `#!/bin/sh\necho "$0 $*" >> '${canary}'\n`);
    await chmod(python, 0o755);
  }
  await mkdir(join(folder, '.vscode'));
  await writeFile(
    join(folder, '.vscode', 'settings.json'),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code's own spelling of a variable in a setting.
    JSON.stringify({ 'shardboard.pythonPath': '${workspaceFolder}/environment/bin/python' }),
  );
  window = await openWindow({
    folder,
    vsix: join(projectRoot, 'shardboard.vsix'),
    asksForTrust: true,
    settings: { 'security.workspace.trust.startupPrompt': 'never' },
  });
});

after(async () => {
  await window?.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  await rm(canary, { force: true });
});

test('it is read, and nothing of it is run before it is trusted', { timeout: 4 * 60_000 }, async () => {
  await window.openActivity('Shardboard');
  await window.treeRow('Servers', 'Resources servers').waitFor();
  await window.quickOpen('app.py');
  await window.page.locator('.codelens-decoration').filter({ hasText: 'Ray: not declared' }).waitFor();
  await window.page.locator('.squiggly-warning').first().waitFor();
  await window.quickOpen('words.yaml');
  await window.codeLens('Starts Ray: cannot be settled (because of words)').waitFor();

  const refusal = window.toast('This workspace is not trusted');
  const results = await window.webview('text=Submit sharded benchmark');
  await results.getByText('Submit sharded benchmark').click();
  await refusal.waitFor();
  await window.runCommand('Notifications: Clear All Notifications');
  await refusal.waitFor({ state: 'hidden' });
  await window.codeLens('Run with Gym').click();
  await refusal.waitFor();
  assert.deepEqual(await gym.log(), []);
  assert.equal(await readFile(canary, 'utf8'), '');

  await window.button(refusal, 'Manage trust').click();
  await window.page
    .locator('.workspace-trust-editor .monaco-button')
    .filter({ hasText: /^Trust$/ })
    .click();
  await window.quickOpen('words.yaml');
  await window.codeLens('Run with Gym').click();
  await window.codeLens('Stop Gym').waitFor();
  while (!(await gym.log()).some((line) => line.startsWith('server '))) {
    await wait(50);
  }
  assert.match((await gym.log())[0] ?? '', /words\.yaml/);

  // What has no place on disk is not run, trusted or not.
  await window.runCommand('File: New Untitled Text File');
  await window.runCommand('Change Language Mode');
  await window.answer('Python');
  await window.runCommand('Shardboard: Run Gym Server');
  await window.button(window.toast('Gym runs only what is saved'), 'Save as').waitFor();
});
