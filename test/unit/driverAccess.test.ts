import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { driverAccess, isHeadHere, type KnownCluster, versionMismatch } from '../../src/cluster/driverAccess';
import type { ClusterState } from '../../src/cluster/service';

let folder: string;
let tokenFile: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'access-'));
  tokenFile = join(folder, 'auth_token');
  await writeFile(tokenFile, 'right\n');
});
after(() => rm(folder, { recursive: true }));

type Running = Extract<ClusterState, { kind: 'running' }>;

const joined: Running = {
  kind: 'running',
  origin: 'joined',
  dashboardUrl: 'http://192.0.2.2:8265',
  sessionName: 'session',
  rayVersion: '2.60.0',
  nodes: [
    { id: 'away', ip: '192.0.2.1', isHead: true, state: 'ALIVE', message: undefined, cpus: 2, gpus: 0, memory: 1 },
    { id: 'gone', ip: '192.0.2.2', isHead: false, state: 'DEAD', message: undefined, cpus: 0, gpus: 0, memory: 0 },
    { id: 'here', ip: '192.0.2.2', isHead: false, state: 'ALIVE', message: undefined, cpus: 2, gpus: 0, memory: 1 },
  ],
};

function cluster(state: ClusterState, parts: Partial<KnownCluster> = {}): KnownCluster {
  return {
    state: () => state,
    client: () => ({ gcsAddress: async (node) => (node === 'here' ? '192.0.2.1:6379' : undefined) }),
    token: () => undefined,
    tokenFile: () => undefined,
    ...parts,
  };
}

const here = () => ({ addresses: ['127.0.0.1', '192.0.2.2'], tokenFiles: [join(folder, 'none'), tokenFile] });

test('a cluster that was started here is joined with the file of its token', async () => {
  const started: Running = { ...joined, origin: 'started', gcsAddress: '192.0.2.2:20001' };
  const known = cluster(started, { token: () => 'secret', tokenFile: () => '/t/token' });
  assert.deepEqual(await driverAccess(known, here()), { gcsAddress: '192.0.2.2:20001', tokenFile: '/t/token' });
});

test('a joined cluster tells its address where this machine is one of its nodes', async () => {
  assert.deepEqual(await driverAccess(cluster(joined), here()), {
    gcsAddress: '192.0.2.1:6379',
    tokenFile: undefined,
  });
});

test('its token is taken from a file of Ray that holds it, and else is asked for', async () => {
  const right = await driverAccess(cluster(joined, { token: () => 'right' }), here());
  assert.deepEqual(right, { gcsAddress: '192.0.2.1:6379', tokenFile });
  const wrong = await driverAccess(cluster(joined, { token: () => 'secret' }), here());
  assert.ok('reason' in wrong);
  assert.ok(wrong.reason.includes(tokenFile));
  assert.ok(!wrong.reason.includes('secret'));
});

for (const [name, known, addresses, words] of [
  ['does not run', cluster({ kind: 'none' }), ['192.0.2.2'], /does not run/],
  ['is elsewhere', cluster(joined), ['192.0.2.9'], /none of its nodes/],
  ['does not answer', cluster(joined, { client: () => undefined }), ['192.0.2.2'], /does not tell its address/],
  [
    'refuses',
    cluster(joined, {
      client: () => ({
        gcsAddress: async () => {
          throw new Error('Forbidden');
        },
      }),
    }),
    ['192.0.2.2'],
    /Forbidden/,
  ],
] as const) {
  test(`a cluster that ${name} is not joined, and why is said`, async () => {
    const access = await driverAccess(known, { addresses, tokenFiles: [] });
    assert.ok('reason' in access);
    assert.match(access.reason, words);
  });
}

const versionsAt = (rayVersion: string, pythonVersion: () => Promise<string>) => ({
  state: () => ({ ...joined, rayVersion }),
  client: () => ({ pythonVersion }),
});
const as3121 = versionsAt('2.60.0', async () => '3.12.1');

test('a program with the very versions of the cluster can join', async () => {
  assert.equal(await versionMismatch(as3121, { python: '3.12.1', ray: '2.60.0' }), undefined);
  assert.equal(
    await versionMismatch(
      { state: () => ({ kind: 'none' }), client: () => undefined },
      { python: '3.12.1', ray: '2.60.0' },
    ),
    undefined,
  );
});

for (const [own, words] of [
  [{ python: '3.12.3', ray: '2.60.0' }, /Ray 2\.60\.0 on Python 3\.12\.1.* Ray 2\.60\.0 on Python 3\.12\.3/],
  [{ python: '3.12.1', ray: '2.55.1' }, /Ray 2\.60\.0 on Python 3\.12\.1.* Ray 2\.55\.1 on Python 3\.12\.1/],
  [{ python: '3.12.1', ray: undefined }, /no Ray on Python 3\.12\.1/],
] as const) {
  test(`with Ray ${own.ray} on Python ${own.python} it cannot, and both sides are named`, async () => {
    assert.match((await versionMismatch(as3121, own)) ?? '', words);
  });
}

test('a cluster that does not tell its versions is not joined', async () => {
  const silent = versionsAt('2.60.0', async () => {
    throw new Error('Forbidden');
  });
  assert.match((await versionMismatch(silent, { python: '3.12.1', ray: '2.60.0' })) ?? '', /does not tell.*Forbidden/);
});

test('jobs start here only when the head node is here, whatever the address is', () => {
  assert.equal(isHeadHere(joined.nodes, ['127.0.0.1', '192.0.2.2']), false);
  assert.equal(isHeadHere(joined.nodes, ['127.0.0.1', '192.0.2.1']), true);
  assert.equal(isHeadHere([], ['192.0.2.1']), false);
});
