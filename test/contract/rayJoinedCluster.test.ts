import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ClusterService, type ClusterState, createClusterService } from '../../src/cluster/service';
import { UserError } from '../../src/common/userError';
import nodes from '../fixtures/ray/nodes.json';
import version from '../fixtures/ray/version.json';
import { startRayServer } from './rayServer';

type Joined = { url: string; token?: string };

interface Window {
  readonly service: ClusterService;
  readonly states: ClusterState[];
  readonly kept: () => Joined | undefined;
}

async function openWindow(t: TestContext, joined?: Joined): Promise<Window> {
  const storageFolder = await mkdtemp(join(tmpdir(), 'storage-'));
  t.after(() => rm(storageFolder, { recursive: true }));
  let kept = joined;
  const service = createClusterService({
    storageFolder,
    resolvePython: async () => {
      throw new UserError('No Python 3.12 or 3.13 was found.');
    },
    watcher: '',
    joined: {
      load: async () => kept,
      save: async (cluster) => {
        kept = cluster;
      },
      forget: async () => {
        kept = undefined;
      },
    },
  });
  t.after(() => service.dispose());
  const states: ClusterState[] = [];
  service.onDidChange((state) => states.push(state));
  return { service, states, kept: () => kept };
}

/** A cluster that can be taken down, brought back, and started anew. */
async function startCluster(t: TestContext): Promise<{ url: string; answer: 'yes' | 'no'; session: string }> {
  const cluster = { url: '', answer: 'yes' as 'yes' | 'no', session: 'session_1' };
  const server = await startRayServer(t, ({ path }, response) => {
    if (cluster.answer === 'no') {
      response.socket?.destroy();
    } else {
      response.end(JSON.stringify(path === '/api/version' ? { ...version, session_name: cluster.session } : nodes));
    }
  });
  cluster.url = server.url;
  return cluster;
}

test('joins a cluster, keeps its address and token, and forgets both when it leaves', async (t) => {
  const cluster = await startCluster(t);
  const { service, states, kept } = await openWindow(t);
  await service.join(cluster.url.replace('http://', ''), 'a token');
  const state = service.state();
  assert.ok(state.kind === 'running');
  assert.equal(state.origin, 'joined');
  assert.equal(state.dashboardUrl, cluster.url);
  assert.equal(state.nodes.length, 1);
  assert.equal(service.token(), 'a token');
  assert.deepEqual(kept(), { url: cluster.url, token: 'a token' });
  assert.ok(service.client());

  await service.leave();
  assert.equal(service.client(), undefined);
  assert.equal(kept(), undefined);
  assert.deepEqual(
    states.map(({ kind }) => kind),
    ['running', 'none'],
  );
});

test('finds a joined cluster again after a reload', async (t) => {
  const cluster = await startCluster(t);
  const { service } = await openWindow(t, { url: cluster.url, token: 'a token' });
  await service.restore();
  assert.equal(service.state().kind, 'running');
});

test('says so when the joined cluster does not answer after a reload, and keeps its address', async (t) => {
  const cluster = await startCluster(t);
  cluster.answer = 'no';
  const { service, kept } = await openWindow(t, { url: cluster.url });
  await assert.rejects(service.restore(), UserError);
  const state = service.state();
  assert.ok(state.kind === 'none' && state.message);
  assert.deepEqual(kept(), { url: cluster.url });
});

test('one lost answer is not the end of a joined cluster, three are', async (t) => {
  const cluster = await startCluster(t);
  const { service } = await openWindow(t);
  await service.join(cluster.url);
  cluster.answer = 'no';
  await service.refresh();
  await service.refresh();
  assert.equal(service.state().kind, 'running');
  cluster.answer = 'yes';
  await service.refresh();
  cluster.answer = 'no';
  await service.refresh();
  await service.refresh();
  assert.equal(service.state().kind, 'running');
  await service.refresh();
  const state = service.state();
  assert.ok(state.kind === 'none');
  assert.match(state.message ?? '', /no longer answers/);
});

test('a joined cluster that was started anew is another session', async (t) => {
  const cluster = await startCluster(t);
  const { service, states } = await openWindow(t);
  await service.join(cluster.url);
  await service.refresh();
  assert.equal(states.length, 1, 'nothing changed, nothing is told');
  cluster.session = 'session_2';
  await service.refresh();
  const state = service.state();
  assert.ok(state.kind === 'running');
  assert.equal(state.sessionName, 'session_2');
});

test('a join that fails leaves what there was', async (t) => {
  const cluster = await startCluster(t);
  const { service, kept } = await openWindow(t);
  await service.join(cluster.url);
  await assert.rejects(service.join('ray://elsewhere:10001'), UserError);
  assert.equal(service.state().kind, 'running');
  assert.deepEqual(kept(), { url: cluster.url });
});

test('without an interpreter there is no cluster, and the state says why', async (t) => {
  const { service, states } = await openWindow(t);
  await assert.rejects(Promise.all([service.start(), service.start()]), /No Python/);
  assert.deepEqual(service.state(), { kind: 'none', message: 'No Python 3.12 or 3.13 was found.' });
  assert.deepEqual(
    states.map(({ kind }) => kind),
    ['starting', 'none'],
  );
});

test('a start that is called off says nothing', async (t) => {
  const { service } = await openWindow(t);
  const starting = service.start();
  await service.stop();
  await assert.rejects(starting, { name: 'AbortError' });
  assert.deepEqual(service.state(), { kind: 'none' });
});
