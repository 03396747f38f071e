/** What a person is told when something is missing: a sentence with a way on, and nothing that goes on spinning. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import nodes from '../fixtures/ray/nodes.json';
import version from '../fixtures/ray/version.json';
import { projectRoot } from '../support/projectRoot';
import { testPython } from '../support/testPython';
import { type CodeWindow, openWindow } from '../support/vscode/window';

let folder: string;
let samples: string;
let window: CodeWindow;
let stranger: { readonly server: Server; readonly host: string };
const pictures = join(projectRoot, 'test-results', 'bad-input');

before(async () => {
  await mkdir(pictures, { recursive: true });
  folder = await mkdtemp(join(tmpdir(), 'bad-'));
  samples = join(folder, 'samples');
  await cp(join(projectRoot, 'samples'), samples, { recursive: true });
  await writePythonSetting(join(folder, 'nothing', 'here'));
  stranger = await startStranger();
  window = await openWindow({
    folder: samples,
    vsix: join(projectRoot, 'shardboard.vsix'),
    env: { RAY_API_SERVER_ADDRESS: `http://${stranger.host}` },
  });
});

after(async () => {
  await window?.close();
  stranger?.server.closeAllConnections();
  stranger?.server.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

test('without a Python environment, starting Ray says where it looked and leads to the setting', async () => {
  await window.quickOpen('gym/with_ray.py');
  await window.codeLens('Start Ray').click();
  const toast = window.toast('There is no Python at');
  await window.button(toast, 'Open setting').waitFor();
  await window.statusBarItem('Ray: off').waitFor();
  await window.codeLens('Start Ray').waitFor();
  await window.button(toast, 'Open setting').click();
  const settings = window.page.locator('.settings-editor');
  await settings.getByText('Shardboard: Python Path').first().waitFor();
  // VS Code shows its settings above the window, and closes them so.
  await window.page.keyboard.press('Escape');
  await window.runCommand('Notifications: Clear All Notifications');
});

test('a Python without Ray is named, with what it lacks', async () => {
  const bare = join(folder, 'bare');
  execFileSync(testPython(), ['-m', 'venv', '--without-pip', bare]);
  await changePython(join(bare, 'bin', 'python'));
  await window.runCommand('Shardboard: Start Local Ray Cluster');
  await window.button(window.toast('Ray is not installed.'), 'Install Ray').waitFor();
  await window.statusBarItem('Ray: off').waitFor();
  await window.runCommand('Notifications: Clear All Notifications');
});

test('without a cluster, submitting offers to start one', async () => {
  await window.runCommand('Shardboard: Submit Sharded Benchmark');
  const toast = window.toast('There is no Ray cluster to send the benchmark to');
  await window.button(toast, 'Start Ray').waitFor();
  await window.button(toast, 'Join a cluster').waitFor();
  await window.runCommand('Notifications: Clear All Notifications');
});

test('an address that cannot be joined is explained while it is typed, and the right port is offered', async () => {
  await window.runCommand('Shardboard: Join Ray Cluster');
  await window.pick('Another address…');
  await window.question.filter({ hasText: "Address of the cluster's dashboard" }).waitFor();
  await window.question.locator('input').first().fill('ray://127.0.0.1:10001');
  await window.question.filter({ hasText: '8265' }).waitFor();
  await window.page.keyboard.press('Enter');
  await window.button(window.toast('address of the Ray Client'), 'Join http://127.0.0.1:8265').waitFor();
  await window.runCommand('Notifications: Clear All Notifications');
  assert.equal(await window.statusBarItem('Ray: off').count(), 1);
});

test('a cluster that does not answer is not joined', async () => {
  await window.runCommand('Shardboard: Join Ray Cluster');
  await window.pick('Another address…');
  await window.question.filter({ hasText: "Address of the cluster's dashboard" }).waitFor();
  await window.answer('http://127.0.0.1:9');
  await window.toast('Nothing answers at http://127.0.0.1:9').waitFor();
  await window.statusBarItem('Ray: off').waitFor();
});

test('a cluster that is found asks for its token, and is not sent a benchmark that it cannot run', async () => {
  await window.runCommand('Shardboard: Join Ray Cluster');
  await window.question.filter({ hasText: 'named by RAY_API_SERVER_ADDRESS' }).waitFor();
  await window.screenshot(join(pictures, 'clusters that are found.png'));
  await window.pick(stranger.host);
  await window.question.filter({ hasText: 'Enter a token…' }).waitFor();
  await window.pick('Enter a token…');
  await window.question.filter({ hasText: "The cluster's token" }).waitFor();
  await window.answer('the-right-token');
  await window.statusBarItem(/Ray: (?!off)/).waitFor();
  await window.runCommand('Shardboard: Submit Sharded Benchmark');
  await window.toast('runs Ray 2.60.0 on Python 3.11.7, and benchmarks need').waitFor();
  await window.runCommand('Notifications: Clear All Notifications');
  await window.runCommand('Shardboard: Leave Ray Cluster');
  await window.statusBarItem('Ray: off').waitFor();
});

test('a cluster that dies in the middle of a run is told, and so is the run', async () => {
  await changePython(testPython());
  await window.runCommand('Shardboard: Start Local Ray Cluster');
  await window.statusBarItem(/Ray: .* CPUs?/).waitFor({ timeout: 180_000 });
  await window.runCommand('Shardboard: Submit Sharded Benchmark');
  for (const [number, answer] of [
    [1, () => window.pick('word_problems')],
    [2, () => window.answer('2')],
    [3, () => window.answer('1')],
    [4, () => window.pick('Practice model')],
    [5, () => window.answer('practice')],
    [6, () => window.pick('No key')],
    [7, () => window.pick('Submit')],
  ] as const) {
    await window.question.filter({ hasText: `(${number}/7)` }).waitFor();
    await answer();
  }
  const page = await window.webview('body[data-place="panel"] [data-testid="run-status"][data-status="running"]');
  await page.locator('[data-testid^="shard-"][data-phase="running"]').first().waitFor();
  process.kill(raylet(), 'SIGKILL');
  await window.toast('The Ray cluster is gone').waitFor();
  await page.locator('[data-testid="run-status"][data-status="lost"]').waitFor();
  await window.statusBarItem('Ray: off').waitFor();
  await window.screenshot(join(pictures, 'cluster gone.png'));
  await window.runCommand('Shardboard: Start or Stop Practice Model');
  await window.toast('The practice model has stopped').waitFor();
});

/** What answers as a Ray would that others started, with a token, on a Python that is too old. */
async function startStranger(): Promise<{ server: Server; host: string }> {
  const answers: Readonly<Record<string, unknown>> = {
    '/api/version': version,
    '/api/v0/nodes': nodes,
    '/api/v0/cluster_metadata': { data: { rayVersion: '2.60.0', pythonVersion: '3.11.7' } },
  };
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*$/, '');
    const sent = request.headers.authorization;
    if (sent !== 'Bearer the-right-token') {
      response.writeHead(sent === undefined ? 401 : 403).end();
    } else if (path in answers) {
      response.end(JSON.stringify(answers[path]));
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return { server, host: `127.0.0.1:${address.port}` };
}

/** The node process of the cluster of this test: its command line names the test's temporary folder. */
function raylet(): number {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  const line = lines.find((entry) => entry.includes('/raylet/raylet ') && entry.includes(tmpdir()));
  assert.ok(line, 'no raylet is running');
  return Number(line.trim().split(' ')[0]);
}

/** A window takes up a changed file when its watcher gets to it; a reloaded one has it for certain. */
async function changePython(path: string): Promise<void> {
  await writePythonSetting(path);
  await window.reload();
  await window.statusBarItem('Ray: off').waitFor();
}

async function writePythonSetting(path: string): Promise<void> {
  await writeFile(join(samples, '.vscode', 'settings.json'), JSON.stringify({ 'shardboard.pythonPath': path }));
}
