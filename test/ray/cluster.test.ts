/** The life of a cluster, with real Ray and with another cluster of somebody else's beside it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ClusterRecord, loadClusterRecord } from '../../src/cluster/clusterRecord';
import { listClusterProcesses, listProcesses, type ProcessOwner } from '../../src/cluster/processes';
import { type ClusterService, createClusterService } from '../../src/cluster/service';
import { createRayClient } from '../../src/ray/client';
import { RayError } from '../../src/ray/rayError';
import { eventually, type ForeignCluster, processesNaming, startForeignCluster } from '../support/rayClusters';
import { testPython } from '../support/testPython';
import { watcherProgram } from '../support/watcherProgram';

/** An empty zip. */
const NOTHING = Buffer.from('504b0506000000000000000000000000000000000000', 'hex');
const SLEEPING_JOB = [
  'import ray, time',
  'sleep = ray.remote(lambda: time.sleep(1000))',
  'ray.init()',
  'tasks = [sleep.remote() for _ in range(2)]',
  'print("sleeping", flush=True)',
  'ray.get(tasks)',
].join('; ');

describe('a cluster of our own', () => {
  let storageFolder: string;
  let foreign: ForeignCluster;
  const services: ClusterService[] = [];

  before(async () => {
    storageFolder = await mkdtemp('/tmp/storage-');
    foreign = await startForeignCluster();
    // What a user's shell may hold must not lead our cluster to another one.
    process.env.RAY_ADDRESS = '127.0.0.1:1';
    process.env.RAY_API_SERVER_ADDRESS = 'http://127.0.0.1:1';
  });
  after(async () => {
    for (const service of services) {
      await service.stop();
      service.dispose();
    }
    await foreign.end();
    await rm(storageFolder, { recursive: true, force: true });
  });

  /** What one window has. */
  function openWindow(folder = storageFolder): ClusterService {
    const service = createClusterService({
      storageFolder: folder,
      resolvePython: async () => testPython(),
      watcher: watcherProgram,
      joined: { load: async () => undefined, save: async () => undefined, forget: async () => undefined },
    });
    services.push(service);
    return service;
  }

  async function record(): Promise<ClusterRecord> {
    const found = await loadClusterRecord(storageFolder);
    assert.ok(found, 'there is a record of the cluster');
    return found;
  }

  it('that is called off while it starts leaves nothing behind', async () => {
    const service = openWindow();
    const cancel = new AbortController();
    let owner: ProcessOwner | undefined;
    service.onDidChange(async (state) => {
      if (state.kind === 'starting' && state.stage === 'waiting for the dashboard') {
        owner = JSON.parse(await readFile(join(storageFolder, 'cluster.lock'), 'utf8')).cluster;
        cancel.abort();
      }
    });
    await assert.rejects(service.start({ signal: cancel.signal }), { name: 'AbortError' });
    assert.deepEqual(service.state(), { kind: 'none' });
    assert.ok(owner, 'it had started something');
    assert.deepEqual(await processesNaming(owner.folder), []);
    assert.equal(existsSync(owner.folder), false);
    assert.deepEqual(await readdir(storageFolder), ['watcher.log']);
  });

  it('is one, also when two windows start it at once', async () => {
    const windows = [openWindow(), openWindow()];
    await Promise.all(windows.map((window) => window.start()));
    const [one, two] = windows.map((window) => window.state());
    assert.ok(one?.kind === 'running' && two?.kind === 'running');
    assert.equal(one.sessionName, two.sessionName);
    assert.notEqual(one.sessionName, foreign.sessionName);
    assert.equal(one.origin, 'started');
    assert.match(one.rayVersion, /^2\./);
    assert.deepEqual(
      one.nodes.map(({ isHead, state }) => ({ isHead, state })),
      [{ isHead: true, state: 'ALIVE' }],
    );
    assert.deepEqual(await readdir(storageFolder), ['cluster.json', 'watcher.log'], 'no lock is left');
  });

  it('is closed to everybody else', async () => {
    const { dashboardUrl, tokenFile, folder } = await record();
    assert.match(dashboardUrl, /^http:\/\/127\.0\.0\.1:/);
    assert.equal((await stat(tokenFile)).mode & 0o777, 0o600);
    assert.equal((await stat(join(storageFolder, 'cluster.json'))).mode & 0o777, 0o600);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
    const stranger = createRayClient({ url: dashboardUrl });
    await assert.rejects(stranger.jobs(), (error) => error instanceof RayError && error.kind === 'unauthorized');
    await stranger.close();
    const token = await readFile(tokenFile, 'utf8');
    const commandLines = (await listProcesses()).map((row) => row.commandLine);
    assert.ok(!commandLines.some((line) => line.includes(token)), 'the token is on no command line');
  });

  it('listens on other interfaces only where the README says so', { skip: process.platform !== 'linux' }, async () => {
    const owner = await record();
    const pids = (await listClusterProcesses(owner)).map((row) => row.pid);
    const listeners = execFileSync('ss', ['-Hltnp'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => pids.some((pid) => line.includes(`pid=${pid},`)))
      .map((line) => line.split(/\s+/)[3] ?? '')
      .map((address) => ({ host: address.replace(/:\d+$/, ''), port: Number(address.split(':').at(-1)) }));
    const isLocal = ({ host }: { host: string }): boolean => /^(127\.|\[::1\]|\[::ffff:127\.)/.test(host);
    const dashboard = Number(new URL(owner.dashboardUrl).port);
    assert.ok(listeners.some(({ port }) => port === dashboard));
    assert.ok(
      listeners.filter(({ port }) => port === dashboard).every(isLocal),
      'the dashboard is on this machine only',
    );
    const gcs = Number(owner.gcsAddress.split(':').at(-1));
    assert.ok(
      listeners.some((one) => one.port === gcs && !isLocal(one)),
      'Ray would not be kept from listening everywhere; the README says that',
    );
    // Those that speak HTTP: without the token they give nothing, but for the figures at /metrics.
    const host = owner.gcsAddress.replace(/:\d+$/, '');
    for (const { port } of listeners.filter((one) => !isLocal(one))) {
      const stranger = createRayClient({ url: `http://${host}:${port}` });
      await assert.rejects(stranger.jobs(), RayError, `port ${port}`);
      await stranger.close();
    }
    const shared = listeners.filter(({ port }) => [6379, 8265, 10001, 44217, 44227, 52365].includes(port));
    assert.deepEqual(shared, [], 'no port is one that another cluster would want by default');
  });

  it('is found again after a reload', async () => {
    const { sessionName } = await record();
    const reloaded = openWindow();
    await reloaded.restore();
    const state = reloaded.state();
    assert.ok(state.kind === 'running');
    assert.equal(state.sessionName, sessionName);
    assert.equal(state.origin, 'started');
  });

  it('can be joined from elsewhere, and is there when it is left', async () => {
    const { dashboardUrl, tokenFile } = await record();
    const elsewhere = openWindow(join(storageFolder, 'elsewhere'));
    await assert.rejects(elsewhere.join({ url: dashboardUrl, access: {} }), /asks for a token/);
    await elsewhere.join({ url: dashboardUrl, access: { token: { from: 'file', path: tokenFile } } });
    const state = elsewhere.state();
    assert.ok(state.kind === 'running' && state.origin === 'joined');
    await elsewhere.stop();
    assert.deepEqual(elsewhere.state(), { kind: 'none' });
    assert.notDeepEqual(await listClusterProcesses(await record()), []);
  });

  it('stops with a job in full swing: nothing of it is left, and nothing else is touched', async () => {
    const window = services.find((service) => service.state().kind === 'running');
    const client = window?.client();
    assert.ok(window && client);
    await client.submitJob({
      submissionId: 'sleeping',
      // What it puts into the background has another parent and another group then.
      entrypoint: `(setsid sleep 4711 &); python -c '${SLEEPING_JOB}'`,
      runtimeEnv: { workingDir: await client.uploadPackage(NOTHING), envVars: {} },
      metadata: {},
    });
    await eventually(async () => (await client.jobLogs('sleeping')).includes('sleeping\n'));
    const owner = await record();
    const ours = await eventually(async () => {
      const processes = await listClusterProcesses(owner);
      return processes.some((row) => row.commandLine.startsWith('ray::<lambda>')) ? processes : undefined;
    });
    assert.ok(
      ours.some((row) => row.group !== owner.processGroup),
      'workers are in other groups',
    );
    if (process.platform === 'linux') {
      assert.ok(ours.some((row) => row.commandLine === 'sleep 4711'));
    }
    const theirs = (await listClusterProcesses(foreign)).map((row) => row.pid);

    await window.stop();

    const left = (await listProcesses()).map((row) => row.pid);
    assert.deepEqual(
      ours.filter((row) => left.includes(row.pid)),
      [],
    );
    assert.deepEqual(await processesNaming(owner.folder), []);
    assert.equal(existsSync(owner.folder), false);
    assert.equal(await loadClusterRecord(storageFolder), undefined);
    assert.deepEqual(window.state(), { kind: 'none' });
    assert.equal(window.client(), undefined);
    assert.deepEqual(
      theirs.filter((pid) => !left.includes(pid)),
      [],
      'the other cluster has all its processes',
    );
    assert.equal((await foreign.client.version()).sessionName, foreign.sessionName);
  });

  it('is seen to be gone by the other windows', async () => {
    // Each looks every few seconds by itself, so some may know already.
    const others = services.filter((service) => service.state().kind === 'running');
    await Promise.all(others.map((service) => service.refresh()));
    const states = services.map((service) => service.state());
    assert.ok(states.every((state) => state.kind === 'none'));
    assert.ok(states.some((state) => state.kind === 'none' && /The Ray cluster is gone/.test(state.message ?? '')));
  });
});
