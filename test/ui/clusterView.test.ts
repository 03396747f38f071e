/** The cluster as a person sees it: in the status bar and in its tree, while it answers and when it does not. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import clusterMetadata from '../fixtures/ray/cluster-metadata.json';
import clusterStatus from '../fixtures/ray/cluster-status.json';
import jobRunning from '../fixtures/ray/job-running.json';
import jobsMixed from '../fixtures/ray/jobs-mixed.json';
import nodes from '../fixtures/ray/nodes.json';
import nodesSummary from '../fixtures/ray/nodes-summary.json';
import version from '../fixtures/ray/version.json';
import { projectRoot } from '../support/projectRoot';
import { copySamples, type SamplesCopy } from '../support/samplesCopy';
import { type CodeWindow, openWindow } from '../support/vscode/window';

const pictures = join(projectRoot, 'test-results', 'cluster-view');
const stopped: string[] = [];
let samples: SamplesCopy;
let ray: Server;
let port: number;
let window: CodeWindow;

before(async () => {
  await mkdir(pictures, { recursive: true });
  samples = await copySamples();
  ray = await startRay(0);
  port = (ray.address() as AddressInfo).port;
  window = await openWindow({ folder: samples.folder, vsix: join(projectRoot, 'shardboard.vsix') });
});

after(async () => {
  await window?.close();
  await stopRay();
  await samples?.remove();
});

test('the status bar says what is used, and the tree shows nodes and jobs', async () => {
  await window.quickOpen('gym/with_ray.py');
  await window.statusBarItem('Ray: off').waitFor();
  await window.runCommand('Shardboard: Join Ray Cluster');
  await window.pick('Another address');
  await window.question.filter({ hasText: "Address of the cluster's dashboard" }).waitFor();
  await window.answer(`http://127.0.0.1:${port}`);
  await window.statusBarItem('Ray: 1.5 of 2 CPUs').click();
  await window.treeRow('Cluster', 'Joined Ray cluster').waitFor();
  await window.treeRow('Cluster', '192.0.2.2').filter({ hasText: 'head, 1.5 of 2 CPUs' }).waitFor();
  await window.treeRow('Cluster', 'stock launcher').first().waitFor();
  for (const theme of ['light', 'dark', 'high contrast'] as const) {
    await window.setTheme(theme);
    await window.screenshot(join(pictures, `${theme}.png`));
  }
});

test('a run of the stock launcher shows whose it is and how many shards are how far', async () => {
  await window.treeRow('Cluster', 'running for').click();
  const page = await window.webview('body[data-place="panel"] [data-testid="origin"]');
  const status = page.locator('[data-testid="run-status"]', {
    hasText: 'shards: 1 of 8 finished, 2 running, 5 waiting',
  });
  await status.waitFor();
  assert.match((await page.locator('[data-testid="origin"]').textContent()) ?? '', /elsewhere with the stock launcher/);
  assert.match((await page.locator('h1').textContent()) ?? '', /minigsm · stub/);
  await window.screenshot(join(pictures, 'stock launcher.png'));
});

test('a run of somebody else is stopped only after a question that says whose it is', async () => {
  const job = window.treeRow('Cluster', 'running for');
  await job.hover();
  await job.getByRole('button', { name: 'Stop Job' }).click();
  await window.button(window.dialog('elsewhere with the stock launcher'), 'Stop run').waitFor();
  assert.deepEqual(stopped, []);
  await window.button(window.dialog('elsewhere with the stock launcher'), 'Stop run').click();
  await window.treeRow('Cluster', 'running for').waitFor({ state: 'hidden' });
  assert.deepEqual(stopped, ['/api/jobs/theirs/stop']);
});

test('a cluster that does not answer was last heard, and is back when it answers', async () => {
  await stopRay();
  await window.statusBarItem(/Ray: last heard \d+\ss ago/).waitFor();
  await window.treeRow('Cluster', 'last heard at').waitFor();
  await window.treeRow('Cluster', '192.0.2.2').waitFor();
  await window.screenshot(join(pictures, 'last heard.png'));
  ray = await startRay(port);
  await window.statusBarItem('Ray: 1.5 of 2 CPUs').waitFor();
  await window.runCommand('Shardboard: Leave Ray Cluster');
  await window.statusBarItem('Ray: off').waitFor();
});

async function startRay(at: number): Promise<Server> {
  const theirs = { ...jobRunning, submission_id: 'theirs', job_id: '03000000', start_time: Date.now() - 200_000 };
  const tasks = ['FINISHED', 'RUNNING', 'RUNNING', 'PENDING_NODE_ASSIGNMENT'].map((state, task) => ({
    task_id: `${task}`,
    attempt_number: 0,
    name: 'run_shard',
    state,
  }));
  const server = createServer(({ method, url = '' }, response) => {
    if (method === 'POST') {
      stopped.push(url);
    }
    const job = { ...theirs, status: stopped.length > 0 ? 'STOPPED' : 'RUNNING' };
    const answers: Readonly<Record<string, unknown>> = {
      '/api/version': version,
      '/api/v0/cluster_metadata': clusterMetadata,
      '/api/v0/nodes?limit=10000': nodes,
      '/api/cluster_status': clusterStatus,
      '/nodes?view=summary': nodesSummary,
      '/api/jobs/': [job, ...jobsMixed],
      '/api/jobs/theirs': job,
      '/api/v0/tasks?filter_keys=job_id&filter_predicates=%3D&filter_values=03000000&limit=10000': {
        data: { result: { result: tasks } },
      },
      '/api/jobs/theirs/stop': { stopped: true },
    };
    const answer = answers[url];
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  return server;
}

async function stopRay(): Promise<void> {
  ray.closeAllConnections();
  await new Promise<void>((resolve) => {
    ray.close(() => resolve());
  });
}
