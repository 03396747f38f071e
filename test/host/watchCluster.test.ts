import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import metadata from '../fixtures/ray/cluster-metadata.json';
import clusterStatus from '../fixtures/ray/cluster-status.json';
import jobsMixed from '../fixtures/ray/jobs-mixed.json';
import nodes from '../fixtures/ray/nodes.json';
import nodesSummary from '../fixtures/ray/nodes-summary.json';
import version from '../fixtures/ray/version.json';
import { acceptFirst, until } from './steps';

const GCS_ADDRESS = '127.0.0.1:6379';
const VARIABLES = ['RAY_ADDRESS', 'RAY_API_SERVER_ADDRESS', 'RAY_AUTH_MODE', 'RAY_AUTH_TOKEN_PATH'];

suite('a cluster that was joined', () => {
  let tree: vscode.TreeDataProvider<string>;
  let server: Server;
  let url: string;
  let folder: string;
  let jobs: readonly object[] = jobsMixed;
  let terminals = 0;
  /** What a terminal has without a cluster: whoever runs the tests may have set some. */
  let own: Readonly<Record<string, string>>;

  suiteSetup(async () => {
    const extension = vscode.extensions.getExtension('shardboard.shardboard');
    assert.ok(extension);
    tree = (await extension.activate()).cluster;
    folder = await mkdtemp(join(tmpdir(), 'terminals-'));
    server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answer(request.method ?? '', request.url ?? '')));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await vscode.commands.executeCommand('shardboard.cluster.focus');
    own = await environment();
    await vscode.commands.executeCommand('shardboard.joinCluster', url);
    await until('the tree has the jobs', async () => (await below('cluster')).length === 2);
  });

  suiteTeardown(async () => {
    await vscode.commands.executeCommand('shardboard.leaveCluster');
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('shows its nodes and everybody’s jobs', async () => {
    assert.deepEqual(await below('cluster'), ['Nodes 1.5 of 2 CPUs', 'Jobs none running']);
    assert.deepEqual(await below('nodes'), ['127.0.0.1 head, 1.5 of 2 CPUs, 0.7 of 23.5 GiB']);
    const lines = await below('jobs');
    assert.match(lines[0] ?? '', /^minigsm stopped .* ago, submitted elsewhere$/);
    assert.match(lines.at(-1) ?? '', /^minigsm succeeded .* ago, stock launcher$/);
    assert.equal(lines.length, jobsMixed.length);
  });

  test('each line has a stable id, words for a screen reader, and what its menu goes by', async () => {
    const items = await Promise.all((await childrenOf('jobs')).map((id) => tree.getTreeItem(id)));
    assert.deepEqual(
      items.map(({ id }) => id),
      await childrenOf('jobs'),
    );
    for (const item of items) {
      assert.equal(item.accessibilityInformation?.label, `${item.label}, ${item.description}`);
    }
    assert.deepEqual(
      [...new Set(items.map(({ contextValue }) => contextValue))].sort(),
      // What the stock launcher or another window submitted can be shown as a run.
      ['endedJob', 'endedRunJob', 'scriptJob'],
    );
  });

  test('only lines that changed are drawn anew', async () => {
    const changes: unknown[] = [];
    const subscription = tree.onDidChangeTreeData?.((ids) => changes.push(ids));
    try {
      await vscode.commands.executeCommand('shardboard.refreshCluster');
      jobs = jobsMixed.slice(1);
      await vscode.commands.executeCommand('shardboard.refreshCluster');
      await until('the job is gone', async () => (await childrenOf('jobs')).length === jobs.length);
      // Ages go on by themselves.
      const others = changes.flat().filter((id) => !String(id).startsWith('job/'));
      assert.deepEqual(others, ['jobs']);
    } finally {
      jobs = jobsMixed;
      subscription?.dispose();
    }
  });

  test('the log of somebody’s job opens, without keys', async () => {
    await vscode.commands.executeCommand('shardboard.openJobLog', 'job/nemo-run-002');
    const text = vscode.window.activeTextEditor?.document.getText() ?? '';
    assert.match(text, /line 2/);
    assert.ok(!text.includes('CANARY'));
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  test('its address and the id of a job are copied', async () => {
    await acceptFirst(vscode.commands.executeCommand('shardboard.copyAddress'));
    assert.equal(await vscode.env.clipboard.readText(), GCS_ADDRESS);
    await vscode.commands.executeCommand('shardboard.copyJobId', 'job/nemo-run-002');
    assert.equal(await vscode.env.clipboard.readText(), 'nemo-run-002');
  });

  test('new terminals work on it, unless the setting says no, until it is left', async () => {
    const joined = { ...own, RAY_ADDRESS: GCS_ADDRESS, RAY_API_SERVER_ADDRESS: url };
    await until('a terminal has it', async () => same(await environment(), joined));
    await setHandOn(false);
    try {
      await until('no terminal has it', async () => same(await environment(), own));
    } finally {
      await setHandOn(undefined);
    }
    await until('a terminal has it again', async () => same(await environment(), joined));
    await vscode.commands.executeCommand('shardboard.leaveCluster');
    assert.deepEqual(await environment(), own);
    assert.deepEqual(await childrenOf(undefined), []);
  });

  function answer(method: string, path: string): unknown {
    const here = JSON.parse(JSON.stringify(nodes).replaceAll('192.0.2.2', '127.0.0.1'));
    if (path.startsWith('/nodes/')) {
      return { data: { detail: { cmdline: ['raylet', `--gcs-address=${GCS_ADDRESS}`] } } };
    }
    if (path.endsWith('/logs')) {
      return { logs: 'Running python launcher.py --api-key CANARY-1\nline 2\n' };
    }
    const answers: Readonly<Record<string, unknown>> = {
      '/api/version': version,
      '/api/v0/cluster_metadata': metadata,
      '/api/cluster_status': clusterStatus,
      '/nodes?view=summary': nodesSummary,
      '/api/jobs/': jobs,
    };
    return method === 'GET' ? (answers[path] ?? here) : {};
  }

  async function childrenOf(id: string | undefined): Promise<readonly string[]> {
    return (await tree.getChildren(id)) ?? [];
  }

  async function below(id: string): Promise<string[]> {
    const items = await Promise.all((await childrenOf(id)).map((child) => tree.getTreeItem(child)));
    return items.map(({ label, description }) => `${label} ${description}`.replaceAll('\u00a0', ' '));
  }

  /** What a new terminal has of Ray's variables. */
  async function environment(): Promise<Readonly<Record<string, string>>> {
    terminals += 1;
    const file = join(folder, String(terminals));
    const script = `${file}.sh`;
    await writeFile(script, `env > '${file}.part' && mv '${file}.part' '${file}'\n`);
    const terminal = vscode.window.createTerminal({ name: 'environment', shellPath: '/bin/sh', shellArgs: [script] });
    try {
      let text = '';
      await until('the terminal has told', async () => {
        text = await readFile(file, 'utf8').catch(() => '');
        return text !== '';
      });
      return Object.fromEntries(
        text
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
          .filter(([name]) => VARIABLES.includes(name)),
      );
    } finally {
      terminal.dispose();
    }
  }
});

function same(one: object, other: object): boolean {
  return JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
}

async function setHandOn(value: boolean | undefined): Promise<void> {
  await vscode.workspace
    .getConfiguration('shardboard')
    .update('terminal.useCluster', value, vscode.ConfigurationTarget.Workspace);
}
