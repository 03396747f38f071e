/** The form of a run as a person fills it in: the summary, its settings, a preset, and what is sent in the end. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { strFromU8, unzipSync } from 'fflate';
import clusterMetadata from '../fixtures/ray/cluster-metadata.json';
import clusterStatus from '../fixtures/ray/cluster-status.json';
import nodes from '../fixtures/ray/nodes.json';
import nodesSummary from '../fixtures/ray/nodes-summary.json';
import version from '../fixtures/ray/version.json';
import { projectRoot } from '../support/projectRoot';
import { copySamples, type SamplesCopy } from '../support/samplesCopy';
import { type CodeWindow, openWindow } from '../support/vscode/window';

const pictures = join(projectRoot, 'test-results', 'submit-form');
const packages: Buffer[] = [];
let samples: SamplesCopy;
let ray: Server;
let window: CodeWindow;

before(async () => {
  await mkdir(pictures, { recursive: true });
  samples = await copySamples();
  await writeFile(join(samples.folder, 'benchmarks', '.gitignore'), 'scratch\n');
  await mkdir(join(samples.folder, 'benchmarks', 'scratch'));
  ray = await startRay();
  window = await openWindow({
    folder: samples.folder,
    vsix: join(projectRoot, 'shardboard.vsix'),
    // A terminal that is drawn on a canvas has no text to read.
    settings: { 'terminal.integrated.gpuAcceleration': 'off' },
  });
  await window.quickOpen('gym/with_ray.py');
  await window.runCommand('Shardboard: Join Ray Cluster');
  await window.pick('Another address…');
  await window.question.filter({ hasText: "Address of the cluster's dashboard" }).waitFor();
  await window.answer(`http://127.0.0.1:${(ray.address() as AddressInfo).port}`);
  await window.statusBarItem(/Ray: .* CPUs/).waitFor();
});

after(async () => {
  await window?.close();
  ray?.closeAllConnections();
  ray?.close();
  await samples?.remove();
});

test('what cannot be run is shown with the reason, and cannot be chosen', async () => {
  await window.runCommand('Shardboard: Submit Sharded Benchmark');
  await question('(1/7)');
  await window.question.locator('input').first().fill('humaneval');
  await row('humaneval').filter({ hasText: 'Cannot be run here: it needs containers' }).click();
  await window.question.locator('input').first().fill('');
  await question('(1/7)');
  await window.pick('word_problems');
  await question('(2/7)');
});

test('the last step says what the run will be, in every theme', async () => {
  await window.answer('4');
  await question('(3/7)');
  await window.answer('2');
  await question('(4/7)');
  await window.pick('Another endpoint');
  await window.question.getByPlaceholder('https://example.com/v1').waitFor();
  await window.answer('https://models.example.com/v1');
  await question('(5/7)');
  await window.answer('test-model');
  await question('(6/7)');
  await window.pick('No key');
  await question('(7/7)');
  await row('Cluster').filter({ hasText: '127.0.0.1' }).waitFor();
  await row('Benchmark').filter({ hasText: 'benchmarks/word_problems.py:word_problems' }).waitFor();
  await row('Questions').filter({ hasText: '2 repeats' }).filter({ hasText: 'in 4 shards' }).waitFor();
  await row('Package')
    .filter({ hasText: 'word_problems.jsonl' })
    .filter({ hasText: /Left out: .*scratch/ })
    .waitFor();
  await window.screenshot(join(pictures, 'summary.png'));
});

test('a setting is changed, and a wrong one is said to be', async () => {
  await window.pick('More settings');
  await openSetting('Problems at most');
  await window.answer('0');
  await window.question.getByText('A whole number from 1 on, or nothing').waitFor();
  await window.answer('3');
  await row('Problems at most').filter({ hasText: '3' }).waitFor();
  await window.screenshot(join(pictures, 'settings.png'));
  await leaveSettings();
  await row('Cannot be submitted yet').filter({ hasText: 'at most 3 shards' }).waitFor();
  await row('Cannot be submitted yet').click();
  await window.pick('More settings');
  await openSetting('Shards');
  await window.answer('3');
  await openSetting('Temperature');
  await window.answer('0.7');
  await row('Temperature').filter({ hasText: '0.7' }).waitFor();
  await leaveSettings();
  await row('More settings').filter({ hasText: 'Problems at most: 3, Temperature: 0.7' }).waitFor();
  await row('Submit').first().waitFor();
});

test('it is copied for the stock launcher', async () => {
  await window.pick('Copy as ray job submit');
  await window.toast('The command is on the clipboard').waitFor();
  const copied = await window.page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /--benchmark word_problems\.py:word_problems/);
  assert.match(copied, /left out: temperature 0\.7/);
});

test('it is kept as a preset, which answers all questions at once, and is sent as it stands', async () => {
  await question('(7/7)');
  await window.pick('Save as preset');
  await window.question.filter({ hasText: 'Name of the preset' }).waitFor();
  await window.answer('pilot');
  await question('(7/7)');
  await window.page.keyboard.press('Escape');
  await window.runCommand('Shardboard: Submit Sharded Benchmark');
  await row('pilot').filter({ hasText: 'benchmarks/word_problems.py:word_problems · test-model, 3 shards' }).waitFor();
  for (const theme of ['light', 'dark', 'high contrast'] as const) {
    await window.page.keyboard.press('Escape');
    await window.setTheme(theme);
    await window.runCommand('Shardboard: Submit Sharded Benchmark');
    await question('(1/7)');
    await window.screenshot(join(pictures, `benchmarks, ${theme}.png`));
    await window.pick('pilot');
    await question('(2/2)');
    await row('Package')
      .filter({ hasText: /Left out: .*scratch/ })
      .waitFor();
    await window.screenshot(join(pictures, `summary, ${theme}.png`));
    await window.pick('More settings');
    await row('Top p').waitFor();
    await window.screenshot(join(pictures, `settings, ${theme}.png`));
    await leaveSettings();
    await question('(2/2)');
  }
  const settings = JSON.parse(await readFile(join(samples.folder, '.vscode', 'settings.json'), 'utf8'));
  assert.deepEqual(settings['shardboard.presets'].pilot, {
    benchmark: 'benchmarks/word_problems.py:word_problems',
    shards: 3,
    repeats: 2,
    modelUrl: 'https://models.example.com/v1',
    modelId: 'test-model',
    maxProblems: 3,
    generation: { temperature: 0.7 },
  });

  await window.pick('Submit');
  await window.webview('body[data-place="panel"] [data-testid="run-status"]');
  const request = JSON.parse(strFromU8(unzipSync(packages[0] ?? Buffer.of())['request.json'] ?? new Uint8Array()));
  assert.deepEqual(
    [request.shards, request.repeats, request.maxProblems, request.generation.temperature, request.requestsInFlight],
    [3, 2, 3, 0.7, 64],
  );
});

test('the preset runs as a task, which tells its course in a terminal', async () => {
  await window.runCommand('Tasks: Run Task');
  await window.question.getByPlaceholder('Select the task to run').waitFor();
  await window.pick('shardboard');
  await window.pick('pilot');
  const terminal = window.page.locator('.xterm-rows');
  await terminal.getByText('Submitted as shardboard-').waitFor();
  await terminal.getByText('Waiting for Ray to start the run').waitFor();
  await window.screenshot(join(pictures, 'task.png'));
  assert.equal(packages.length, 2);

  await window.page.locator('.xterm-helper-textarea').press('Control+C');
  await terminal.getByText('Cancelling the run.').waitFor();
  await terminal.getByText('Cancelled before the first answer').waitFor();
});

test('a preset is deleted after a question', async () => {
  await window.runCommand('Shardboard: Submit Sharded Benchmark');
  await row('pilot').hover();
  await row('pilot').getByRole('button', { name: 'Delete preset' }).click();
  await window.button(window.dialog('Delete the preset "pilot"?'), 'Delete').click();
  await window.dialog('Delete the preset').waitFor({ state: 'hidden' });
  await row('pilot').waitFor({ state: 'hidden' });
  const settings = await readFile(join(samples.folder, '.vscode', 'settings.json'), 'utf8');
  assert.doesNotMatch(settings, /pilot/);
});

/** Waits for the question with this number. */
async function question(place: string): Promise<void> {
  await window.question.filter({ hasText: place }).waitFor();
}

function settings() {
  return window.question.getByPlaceholder('Which setting');
}

/** Goes back to the summary. In the list's own box, as the keyboard alone may still speak to the question before it. */
async function leaveSettings(): Promise<void> {
  await settings().press('Escape');
  await settings().waitFor({ state: 'hidden' });
}

/** Takes a setting, and waits until its value is asked for. */
async function openSetting(label: string): Promise<void> {
  // The summary names shards and temperature too: a row of it must not be taken for the setting.
  await settings().waitFor();
  await window.pick(label);
  await window.question.locator('.quick-input-message').filter({ hasText: label }).waitFor();
}

function row(text: string) {
  return window.question.locator('.quick-input-list .monaco-list-row').filter({ hasText: text });
}

/** A cluster that takes packages and jobs, lets none of them start, and stops all when it is to stop one. */
async function startRay(): Promise<Server> {
  let isStopped = false;
  const server = createServer((request, response) => {
    const { method, url = '' } = request;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (method === 'PUT') {
        packages.push(Buffer.concat(chunks));
      }
      const isStop = method === 'POST' && url.endsWith('/stop');
      isStopped ||= isStop;
      const status = isStopped ? 'STOPPED' : 'PENDING';
      const job = { type: 'SUBMISSION', status, entrypoint: '', submission_id: url.split('/').at(-1) };
      const answers: Readonly<Record<string, unknown>> = {
        '/api/version': version,
        '/api/v0/cluster_metadata': clusterMetadata,
        '/api/v0/nodes?limit=10000': nodes,
        '/api/cluster_status': clusterStatus,
        '/nodes?view=summary': nodesSummary,
        '/api/jobs/': method === 'POST' ? { submission_id: 'ours', job_id: 'ours' } : [],
      };
      const isKnown = url in answers || method === 'PUT' || url.startsWith('/api/jobs/shardboard-');
      response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answers[url] ?? (isStop ? { stopped: true } : job)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
