/** What goes wrong with real Ray at the start and below a cluster that runs: told in a sentence, with nothing left behind. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadClusterRecord, saveClusterRecord } from '../../src/cluster/clusterRecord';
import { findStartedCluster } from '../../src/cluster/findCluster';
import { type ClusterPorts, findClusterPorts } from '../../src/cluster/ports';
import { listClusterProcesses, type ProcessOwner } from '../../src/cluster/processes';
import { processIdentity } from '../../src/cluster/processIdentity';
import { RAYS_CHOICE } from '../../src/cluster/resources';
import { startCluster } from '../../src/cluster/startCluster';
import { stopCluster } from '../../src/cluster/stopCluster';
import { UserError } from '../../src/common/userError';
import { probeEnvironment } from '../../src/python/environment';
import { projectRoot } from '../support/projectRoot';
import { eventually, processesNaming } from '../support/rayClusters';
import { testPython } from '../support/testPython';
import { watcherProgram } from '../support/watcherProgram';

describe('a start that fails', () => {
  let storageFolder: string;

  before(async () => {
    storageFolder = await mkdtemp('/tmp/storage-');
  });
  after(() => rm(storageFolder, { recursive: true, force: true }));

  async function assertFails(taken: Partial<ClusterPorts>): Promise<void> {
    const starting = startCluster({
      python: testPython(),
      storageFolder,
      watcher: watcherProgram,
      resources: RAYS_CHOICE,
      findPorts: async () => ({ ...(await findClusterPorts()), ...taken }),
      onStage: () => undefined,
      signal: new AbortController().signal,
    });
    const explained = assert.rejects(
      starting,
      (error) => error instanceof UserError && /took one of its ports/.test(error.message),
    );
    const owner: ProcessOwner = await eventually(async () => {
      const text = await readFile(join(storageFolder, 'cluster.lock'), 'utf8').catch(() => '{}');
      return JSON.parse(text).cluster;
    });
    await explained;
    assert.deepEqual(await listClusterProcesses(owner), []);
    assert.deepEqual(await processesNaming(owner.folder), []);
    assert.equal(existsSync(owner.folder), false);
    assert.equal(existsSync(join(storageFolder, 'cluster.lock')), false);
    assert.equal(await loadClusterRecord(storageFolder), undefined);
  }

  for (const port of ['gcs', 'dashboard'] as const) {
    it(`because its ${port} port is taken says so, and leaves nothing`, async (t) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
      t.after(() => server.close());
      const address = server.address();
      assert.ok(address && typeof address === 'object');
      await assertFails({ [port]: address.port });
    });
  }

  it('because the disk is full says so, and leaves nothing', async (t) => {
    const folder = await mkdtemp('/tmp/full-');
    t.after(() => rm(folder, { recursive: true, force: true }));
    const mount = `mount -t tmpfs -o size=400k tmpfs ${folder}`;
    try {
      execFileSync('unshare', ['-Urm', 'sh', '-c', mount], { stdio: 'ignore' });
    } catch {
      t.skip('no small disk can be made here');
      return;
    }
    const program = join(projectRoot, 'out', 'test', 'support', 'windowProgram.cjs');
    const script = `${mount} && (exec ${process.execPath} ${program} ${storageFolder} start); ls -A ${folder}`;
    const child = spawn('unshare', ['-Urm', 'sh', '-c', script], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await once(child, 'close');
    const last = output.trimEnd().split('\n').at(-1) ?? '';
    assert.match(JSON.parse(last).message, /disk is full/, 'after it, the listing of the folder is empty');
  });

  it('is not taken from a record whose process group belongs to somebody else now, and nobody is harmed', async (t) => {
    const folder = join('/tmp', 'shardboard-AbC123');
    const bystander = spawn('bash', ['-c', `sleep 1000 & wait; : ${folder}/`], { detached: true, stdio: 'ignore' });
    await once(bystander, 'spawn');
    const { pid = 0 } = bystander;
    t.after(() => process.kill(-pid, 'SIGKILL'));
    const identity = await processIdentity(pid);
    assert.ok(identity);
    await saveClusterRecord(storageFolder, {
      version: 1,
      dashboardUrl: 'http://127.0.0.1:1',
      gcsAddress: '127.0.0.1:2',
      sessionName: 'session_of_yesterday',
      processGroup: pid,
      leader: identity.replace(/\d+$/, '1'),
      folder,
      tokenFile: join(folder, 'token'),
      startedAt: 0,
      python: testPython(),
      rayVersion: '2.60.0',
    });
    assert.equal(await findStartedCluster(storageFolder), undefined);
    assert.equal(await loadClusterRecord(storageFolder), undefined);
    assert.equal(await processIdentity(pid), identity);
  });
});

describe('a cluster whose Python is deleted while it runs', () => {
  it('goes on, is found again, and is stopped as any other; what needs the Python says that it is gone', async (t) => {
    const folder = await mkdtemp('/tmp/gone-');
    t.after(() => rm(folder, { recursive: true, force: true }));
    const environment = join(folder, 'env');
    const python = await linkEnvironment(environment);
    const storageFolder = join(folder, 'storage');
    const record = await startCluster({
      python,
      storageFolder,
      watcher: watcherProgram,
      resources: RAYS_CHOICE,
      onStage: () => undefined,
      signal: new AbortController().signal,
    });
    await rm(environment, { recursive: true });
    assert.deepEqual(await findStartedCluster(storageFolder), record);
    await assert.rejects(
      probeEnvironment(record.python),
      (error) => error instanceof UserError && error.message.startsWith(`There is no Python at ${python}.`),
    );
    await stopCluster(record, { storageFolder, onStage: () => undefined });
    assert.deepEqual(await listClusterProcesses(record), []);
    assert.deepEqual(await processesNaming(record.folder), []);
    assert.equal(existsSync(record.folder), false);
  });
});

/** The environment of the tests under another path, which can be deleted without harm to it. */
async function linkEnvironment(folder: string): Promise<string> {
  const original = dirname(dirname(testPython()));
  const python = join(folder, 'bin', 'python');
  await mkdir(join(folder, 'bin'), { recursive: true });
  await symlink(await realpath(testPython()), python);
  await symlink(join(original, 'lib'), join(folder, 'lib'));
  await copyFile(join(original, 'pyvenv.cfg'), join(folder, 'pyvenv.cfg'));
  return python;
}
