/** Which answers let a cluster whose processes run be taken for ours, with a process and a server in the place of Ray. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ClusterRecord, loadClusterRecord, saveClusterRecord } from '../../src/cluster/clusterRecord';
import { findStartedCluster } from '../../src/cluster/findCluster';
import { isRunning, processIdentity } from '../../src/cluster/processIdentity';
import version from '../fixtures/ray/version.json';
import { always, type Handler, startRayServer } from './rayServer';

/** A record whose processes run, as far as their command line tells. */
async function recorded(t: TestContext, handler: Handler): Promise<{ storageFolder: string; record: ClusterRecord }> {
  const storageFolder = await mkdtemp(join(tmpdir(), 'storage-'));
  const folder = await mkdtemp(join(tmpdir(), 'shardboard-'));
  const tokenFile = join(folder, 'token');
  await writeFile(tokenFile, 'f00d'.repeat(16));
  const script = `sleep 1000 & wait; : ${folder}/ gcs_server /raylet  dashboard/dashboard.py`;
  const cluster = spawn('bash', ['-c', script], { detached: true, stdio: 'ignore' });
  await once(cluster, 'spawn');
  const { pid = 0 } = cluster;
  const leader = await processIdentity(pid);
  assert.ok(leader);
  t.after(async () => {
    if (await isRunning(leader)) {
      process.kill(-pid, 'SIGKILL');
    }
    await rm(storageFolder, { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  });
  const record: ClusterRecord = {
    version: 1,
    dashboardUrl: (await startRayServer(t, handler)).url,
    gcsAddress: '127.0.0.1:1',
    sessionName: version.session_name,
    processGroup: pid,
    leader,
    folder,
    tokenFile,
    startedAt: Date.now(),
    python: '/usr/bin/python3',
    rayVersion: version.ray_version,
  };
  await saveClusterRecord(storageFolder, record);
  return { storageFolder, record };
}

test('a fault that passes does not end a cluster', async (t) => {
  let asked = 0;
  const { storageFolder, record } = await recorded(t, (received, response) => {
    asked += 1;
    const answer = asked === 1 ? always(500, 'Traceback …\nRuntimeError: busy') : always(200, JSON.stringify(version));
    answer(received, response);
  });
  assert.deepEqual(await findStartedCluster(storageFolder), record);
  assert.ok(asked > 1);
  assert.ok(await isRunning(record.leader));
});

for (const [name, handler] of [
  ['does not know its token', always(401, 'Unauthorized')],
  ['has another session', always(200, JSON.stringify({ ...version, session_name: 'session_of_somebody_else' }))],
] as const) {
  test(`a Ray that ${name} is not ours, and what is left of ours is ended`, async (t) => {
    const { storageFolder, record } = await recorded(t, handler);
    assert.equal(await findStartedCluster(storageFolder), undefined);
    assert.equal(await loadClusterRecord(storageFolder), undefined);
    assert.equal(await isRunning(record.leader), false);
  });
}
