/** What becomes of a cluster whose windows are gone, with real Ray and windows that are killed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type ClusterRecord, loadClusterRecord } from '../../src/cluster/clusterRecord';
import { listClusterProcesses, type ProcessOwner } from '../../src/cluster/processes';
import { isRunning, pidOf } from '../../src/cluster/processIdentity';
import { removeCluster } from '../../src/cluster/stopCluster';
import { runningWatcher } from '../../src/cluster/watcherProcess';
import { hasCode } from '../../src/common/userError';
import { createRayClient, type RayClient } from '../../src/ray/client';
import { eventually, openWindowProcess, processesNaming, type WindowProcess } from '../support/rayClusters';

/** An empty zip. */
const NOTHING = Buffer.from('504b0506000000000000000000000000000000000000', 'hex');
/** Between two looks of the watcher; it ends a cluster after eight that find it unused. */
const PAUSE_MS = 250;
const LONG_ENOUGH_MS = 12 * PAUSE_MS;

describe('a cluster whose windows are gone', () => {
  let storageFolder: string;
  let client: RayClient | undefined;
  const windows: WindowProcess[] = [];

  before(async () => {
    storageFolder = await mkdtemp('/tmp/storage-');
  });
  after(async () => {
    await Promise.all(windows.map((window) => window.process.exitCode === null && window.process.kill('SIGKILL')));
    await client?.close();
    const left = await loadClusterRecord(storageFolder);
    if (left) {
      await removeCluster(storageFolder, left, 0);
    }
    await rm(storageFolder, { recursive: true, force: true });
  });

  function open(action: 'start' | 'restore', keep = false): WindowProcess {
    const window = openWindowProcess(storageFolder, action, { pauseMs: PAUSE_MS, keep });
    windows.push(window);
    return window;
  }

  async function record(): Promise<ClusterRecord> {
    const found = await loadClusterRecord(storageFolder);
    assert.ok(found, 'there is a record of the cluster');
    return found;
  }

  /** Waits until the watcher that runs has said this last. */
  async function untilSaid(text: string): Promise<void> {
    await eventually(async () => (await readFile(join(storageFolder, 'watcher.log'), 'utf8')).trimEnd().endsWith(text));
  }

  /** What is being started. */
  async function clusterInLock(): Promise<ProcessOwner | undefined> {
    const text = await readFile(join(storageFolder, 'cluster.lock'), 'utf8').catch(() => '{}');
    return JSON.parse(text).cluster;
  }

  async function assertNothingLeft(owner: ProcessOwner): Promise<void> {
    assert.deepEqual(await listClusterProcesses(owner), []);
    await eventually(async () => (await processesNaming(owner.folder)).length === 0);
    assert.equal(existsSync(owner.folder), false);
    assert.equal(existsSync(join(storageFolder, 'cluster.lock')), false);
    assert.equal(await loadClusterRecord(storageFolder), undefined);
  }

  it('is cleaned up when its only window is killed while it starts', async () => {
    const window = open('start');
    const owner = await eventually(clusterInLock);
    await eventually(() => runningWatcher(owner.folder));
    await window.kill();
    await eventually(async () => !existsSync(join(storageFolder, 'cluster.lock')));
    await assertNothingLeft(owner);
  });

  it('is kept when that is wanted', async () => {
    const window = open('start', true);
    await window.until('running');
    const { dashboardUrl, tokenFile } = await record();
    client = createRayClient({ url: dashboardUrl, token: await readFile(tokenFile, 'utf8') });
    await window.kill();
    await untilSaid('it is to be kept');
    await wait(LONG_ENOUGH_MS);
    assert.ok(await client.version());
  });

  it('is found by a window that opens then, which starts the watcher again when that was killed', async () => {
    const { folder, sessionName } = await record();
    const before = await runningWatcher(folder);
    assert.ok(before);
    process.kill(pidOf(before), 'SIGKILL');
    const window = open('restore');
    const state = await window.until('running');
    assert.equal(state.sessionName, sessionName);
    const watcher = await eventually(() => runningWatcher(folder));
    assert.notEqual(watcher, before);
    await untilSaid('a window works with it');
    await window.kill();
  });

  it('is found also while it does not answer, and is not taken for one that is gone', async () => {
    const owner = await record();
    const dashboard = (await listClusterProcesses(owner)).find((row) => row.commandLine.includes('dashboard.py'));
    assert.ok(dashboard);
    process.kill(dashboard.pid, 'SIGSTOP');
    const window = open('restore', true);
    const state = await window.until('running').finally(() => process.kill(dashboard.pid, 'SIGCONT'));
    assert.deepEqual([state.sessionName, state.nodes], [owner.sessionName, []]);
    await window.kill();
  });

  it('goes on while a job runs on it, also when the machine sleeps', async () => {
    assert.ok(client);
    const owner = await record();
    const window = open('restore');
    await window.until('running');
    await client.submitJob({
      submissionId: 'going-on',
      entrypoint: 'sleep 1000',
      runtimeEnv: { workingDir: await client.uploadPackage(NOTHING), envVars: {} },
      metadata: {},
    });
    const { job } = client;
    await eventually(async () => (await job('going-on')).status === 'RUNNING');
    await window.kill();
    await untilSaid('but a job or an actor runs');
    const watcher = await runningWatcher(owner.folder);
    assert.ok(watcher);
    const all = [pidOf(watcher), ...(await listClusterProcesses(owner)).map(({ pid }) => pid)];
    sendAll(all, 'SIGSTOP');
    await wait(LONG_ENOUGH_MS);
    sendAll(all, 'SIGCONT');
    const { version } = client;
    await eventually(() => version().catch(() => undefined));
    assert.equal((await client.job('going-on')).status, 'RUNNING');
    assert.equal(await runningWatcher(owner.folder), watcher);
  });

  it('ends with all that belongs to it once the job has ended, and nothing else does', async () => {
    assert.ok(client);
    const owner = await record();
    const watcher = await runningWatcher(owner.folder);
    assert.ok(watcher);
    // It names the cluster's folder, and is none of its processes.
    const bystander = spawn('tail', ['-f', join(owner.folder, 'start.log')], { detached: true, stdio: 'ignore' });
    await once(bystander, 'spawn');
    await client.stopJob('going-on');
    await eventually(async () => !(await isRunning(watcher)));
    assert.equal(bystander.exitCode, null);
    const ended = once(bystander, 'exit');
    bystander.kill('SIGKILL');
    await ended;
    assert.equal(bystander.signalCode, 'SIGKILL');
    await assertNothingLeft(owner);
    assert.match(
      await readFile(join(storageFolder, 'watcher.log'), 'utf8'),
      /nobody used the cluster; it was ended\n$/,
    );
  });
});

function sendAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!hasCode(error, 'ESRCH')) {
        throw error;
      }
    }
  }
}
