import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { clusterPaths, makeClusterFolder, removeClusterFolder, setKept } from '../../src/cluster/clusterFolder';
import {
  type ClusterRecord,
  loadClusterRecord,
  removeClusterRecord,
  saveClusterRecord,
} from '../../src/cluster/clusterRecord';
import { findFreePort } from '../../src/cluster/ports';
import { ownIdentity } from '../../src/cluster/processIdentity';
import { RAYS_CHOICE } from '../../src/cluster/resources';
import { startCluster } from '../../src/cluster/startCluster';
import { explainFileFailure, explainStartFailure } from '../../src/cluster/startFailure';
import { takeStartLock } from '../../src/cluster/startLock';
import { endUnusedCluster } from '../../src/cluster/stopCluster';
import { hasWindow, markWindow } from '../../src/cluster/windows';
import { UserError } from '../../src/common/userError';

/** More than any process may have on Linux and macOS. */
const NOBODY = 2 ** 30;

async function makeStorage(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'storage-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

const record: ClusterRecord = {
  version: 1,
  dashboardUrl: 'http://127.0.0.1:20001',
  gcsAddress: '192.0.2.2:20000',
  sessionName: 'session_1',
  processGroup: 4242,
  leader: 'boot 4242 17',
  folder: '/tmp/shardboard-AbC123',
  tokenFile: '/tmp/shardboard-AbC123/token',
  startedAt: 1_796_000_000_000,
  python: '/env/bin/python',
  rayVersion: '2.60.0',
};

test('a port is free and outside of what Ray and the system use', async () => {
  const port = await findFreePort();
  assert.ok(port >= 20_000 && port < 32_768);
  await new Promise<void>((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '0.0.0.0', () => server.close(() => resolve()));
  });
});

test("a cluster's folder is closed, and short enough for Ray's sockets", async (t) => {
  const { folder, token } = await makeClusterFolder();
  t.after(() => removeClusterFolder(folder));
  assert.equal((await stat(folder)).mode & 0o777, 0o700);
  assert.equal((await stat(clusterPaths(folder).token)).mode & 0o777, 0o600);
  assert.match(token, /^[0-9a-f]{64}$/);
  const socket = `${clusterPaths(folder).ray}/session_2026-11-30_22-12-32_047915_4194304/sockets/plasma_store`;
  assert.ok(socket.length <= 103, `${socket.length} characters`);
});

test('a record is read back, only the user can read it, and a newer one is not removed', async (t) => {
  const storage = await makeStorage(t);
  assert.equal(await loadClusterRecord(storage), undefined);
  await saveClusterRecord(storage, record);
  assert.deepEqual(await loadClusterRecord(storage), record);
  assert.equal((await stat(join(storage, 'cluster.json'))).mode & 0o777, 0o600);
  await removeClusterRecord(storage, { ...record, folder: '/tmp/shardboard-Older1' });
  assert.deepEqual(await loadClusterRecord(storage), record);
  await removeClusterRecord(storage, record);
  assert.equal(await loadClusterRecord(storage), undefined);
});

test('a record that cannot be read is none, nor is one that would have another folder removed', async (t) => {
  const storage = await makeStorage(t);
  await writeFile(join(storage, 'cluster.json'), '{"version": 1, "sess');
  assert.equal(await loadClusterRecord(storage), undefined);
  for (const folder of ['/home/me', '/tmp/shardboard-AbC123/..', 'shardboard-AbC123']) {
    await saveClusterRecord(storage, { ...record, folder });
    assert.equal(await loadClusterRecord(storage), undefined);
  }
});

test('one start at a time', async (t) => {
  const storage = await makeStorage(t);
  const lock = await takeStartLock(storage);
  assert.ok(lock);
  assert.equal(await takeStartLock(storage), undefined);
  await lock.release();
  assert.ok(await takeStartLock(storage));
});

test('a start whose process was killed is cleaned up and blocks nobody', async (t) => {
  const storage = await makeStorage(t);
  const { folder } = await makeClusterFolder();
  const abandoned = { holder: `boot ${NOBODY} 1`, cluster: { processGroup: NOBODY, leader: 'boot 1 1', folder } };
  await writeFile(join(storage, 'cluster.lock'), JSON.stringify(abandoned));
  assert.ok(await takeStartLock(storage));
  assert.equal(existsSync(folder), false);
});

test('a start whose number has gone to another process blocks nobody', async (t) => {
  const storage = await makeStorage(t);
  const recycled = (await ownIdentity()).replace(/\d+$/, '0');
  await writeFile(join(storage, 'cluster.lock'), JSON.stringify({ holder: recycled }));
  assert.ok(await takeStartLock(storage));
});

test('a cluster whose start came to its end is not taken for an abandoned one', async (t) => {
  const storage = await makeStorage(t);
  const { folder } = await makeClusterFolder();
  t.after(() => removeClusterFolder(folder));
  await saveClusterRecord(storage, { ...record, folder });
  const abandoned = { holder: `boot ${NOBODY} 1`, cluster: { processGroup: NOBODY, leader: 'boot 1 1', folder } };
  await writeFile(join(storage, 'cluster.lock'), JSON.stringify(abandoned));
  assert.ok(await takeStartLock(storage));
  assert.equal(existsSync(folder), true);
});

test('an unused cluster is ended, and forgotten with its folder', async (t) => {
  const storage = await makeStorage(t);
  const { folder } = await makeClusterFolder();
  await saveClusterRecord(storage, { ...record, folder });
  assert.equal(await endUnusedCluster(storage, { ...record, folder }, async () => true), true);
  assert.equal(existsSync(folder), false);
  assert.deepEqual(await readdir(storage), []);
});

test('a cluster to which a window comes while it is about to be ended stays, with its record', async (t) => {
  const storage = await makeStorage(t);
  const { folder } = await makeClusterFolder();
  t.after(() => removeClusterFolder(folder));
  await saveClusterRecord(storage, { ...record, folder });
  const isEnded = await endUnusedCluster(storage, { ...record, folder }, async () => {
    assert.equal(await loadClusterRecord(storage), undefined, 'a window that looks now finds no cluster');
    await markWindow(folder);
    return !(await hasWindow(folder));
  });
  assert.equal(isEnded, false);
  assert.deepEqual(await readdir(storage), ['cluster.json']);
  assert.deepEqual(await loadClusterRecord(storage), { ...record, folder });
});

test('a window counts as long as its process runs, and a number that was used again does not', async (t) => {
  const { folder } = await makeClusterFolder();
  t.after(() => removeClusterFolder(folder));
  assert.equal(await hasWindow(folder), false);
  const recycled = (await ownIdentity()).replace(/\d+$/, '0');
  await writeFile(join(clusterPaths(folder).windows, String(process.pid)), recycled);
  assert.equal(await hasWindow(folder), false);
  await markWindow(folder);
  assert.equal(await hasWindow(folder), true);
});

test('a window leaves nothing where the folder of a cluster was', async () => {
  const { folder } = await makeClusterFolder();
  await removeClusterFolder(folder);
  await markWindow(folder);
  await setKept(folder, true);
  assert.equal(existsSync(folder), false);
});

test('an interpreter that is not there is explained, and nothing is left', async (t) => {
  const storage = await makeStorage(t);
  const starting = startCluster({
    python: '/none/python',
    storageFolder: storage,
    watcher: '/none/watcher.js',
    resources: RAYS_CHOICE,
    onStage: () => undefined,
    signal: new AbortController().signal,
  });
  await assert.rejects(starting, (error) => error instanceof UserError && /cannot be run/.test(error.message));
  assert.equal(existsSync(join(storage, 'cluster.lock')), false);
});

const failures: readonly [name: string, output: string, text: RegExp][] = [
  [
    'the dashboard port taken',
    "2026-11-30 20:21:32,951\tERROR services.py:1500 -- \u001b[31mFailed to bind to 127.0.0.1:8311 because it's already occupied.\u001b[39m",
    /Another program took one of its ports/,
  ],
  [
    'no Ray',
    "/env/bin/python: Error while finding module (ModuleNotFoundError: No module named 'ray')",
    /Ray is not installed/,
  ],
  [
    'no dashboard',
    "ERROR services.py:1326 -- Ray dashboard dependencies failed to install properly: No module named 'aiohttp'.",
    /without its dashboard.*ray\[default\]/,
  ],
  [
    'a control store in the way',
    "Traceback (most recent call last):\nAssertionError: Session name session_2 does not match persisted value b'session_1'. Perhaps there was an error connecting to Redis.",
    /Another program took one of its ports/,
  ],
  ['a full disk', 'OSError: [Errno 28] No space left on device', /disk is full/],
  [
    'anything else, by its last error',
    'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: something new\n\nfor more see the docs',
    /^Ray did not start\. ValueError: something new$/,
  ],
  ['silence', '', /said nothing/],
  [
    'a Ray that is too old',
    "Error: No such option: --dashboard-agent-listen-port Did you mean '--dashboard-port'?",
    /up to date with: \/env\/bin\/python -m pip install --upgrade/,
  ],
  ['an error without words', 'Exception: ', /Exception: *$/],
  [
    'the port of the head process taken',
    '(gcs_server) grpc_server.cc:134:  Check failed: server_ Failed to start the grpc server. The specified port is 28123.',
    /Another program took one of its ports/,
  ],
];
for (const [name, output, text] of failures) {
  test(`explains a start that failed: ${name}`, () => {
    const { message } = explainStartFailure({ python: '/env/bin/python', output, logs: [], isDiskFull: false });
    assert.match(message, text);
    assert.ok(!message.includes('Traceback') && !message.includes('\u001b'));
  });
}

test('explains a start that failed: what Ray could not write because the disk is full', () => {
  const { message } = explainStartFailure({ python: '', output: 'Exception: ', logs: [''], isDiskFull: true });
  assert.match(message, /disk is full/);
});

test('explains a folder that cannot be made, and no other error', () => {
  const failure = (code: string) => Object.assign(new Error(code), { code, path: '/tmp/shardboard-' });
  assert.match(explainFileFailure(failure('ENOSPC'))?.message ?? '', /disk is full.* \/tmp\/shardboard-/);
  assert.match(explainFileFailure(failure('EACCES'))?.message ?? '', /nothing can be written to \/tmp\/shardboard-/);
  assert.equal(explainFileFailure(failure('EMFILE')), undefined);
});
