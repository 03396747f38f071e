import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { JoinedCluster } from '../../src/cluster/clusterAccess';
import { type ClusterService, type ClusterState, createClusterService } from '../../src/cluster/service';
import { UserError } from '../../src/common/userError';
import clusterStatus from '../fixtures/ray/cluster-status.json';
import jobsMixed from '../fixtures/ray/jobs-mixed.json';
import nodes from '../fixtures/ray/nodes.json';
import nodesSummary from '../fixtures/ray/nodes-summary.json';
import version from '../fixtures/ray/version.json';
import { startRayServer } from './rayServer';

interface Window {
  readonly service: ClusterService;
  readonly states: ClusterState[];
  readonly kept: () => JoinedCluster | undefined;
}

async function openWindow(t: TestContext, joined?: JoinedCluster): Promise<Window> {
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

interface Cluster {
  url: string;
  answer: 'yes' | 'no' | 'wrong token';
  session: string;
  /** The one path that fails. */
  broken: string;
}

/** A cluster that can be taken down, brought back, and started anew. */
async function startCluster(t: TestContext): Promise<Cluster> {
  const cluster: Cluster = { url: '', answer: 'yes', session: 'session_1', broken: '' };
  const server = await startRayServer(t, ({ path }, response) => {
    const answers: Readonly<Record<string, unknown>> = {
      '/api/version': { ...version, session_name: cluster.session },
      '/api/cluster_status': clusterStatus,
      '/nodes?view=summary': nodesSummary,
      '/api/jobs/': jobsMixed,
    };
    if (cluster.answer === 'no') {
      response.socket?.destroy();
    } else if (cluster.answer === 'wrong token') {
      response.writeHead(403).end('Forbidden: Invalid authentication token');
    } else if (path === cluster.broken) {
      response.writeHead(500).end('Traceback (most recent call last):\nKeyError: 1');
    } else {
      response.end(JSON.stringify(answers[path] ?? nodes));
    }
  });
  cluster.url = server.url;
  return cluster;
}

test('joins a cluster, keeps its address and token, and forgets both when it leaves', async (t) => {
  const cluster = await startCluster(t);
  const { service, states, kept } = await openWindow(t);
  const access = { token: { from: 'typed', token: 'a-token' } } as const;
  await service.join({ url: cluster.url, access });
  const state = service.state();
  assert.ok(state.kind === 'running');
  assert.equal(state.origin, 'joined');
  assert.equal(state.dashboardUrl, cluster.url);
  assert.equal(state.nodes.length, 1);
  assert.equal(service.token(), 'a-token');
  assert.deepEqual(kept(), { url: cluster.url, access });
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
  const { service } = await openWindow(t, { url: cluster.url, access: {} });
  await service.restore();
  assert.equal(service.state().kind, 'running');
});

test('says so when the joined cluster does not answer after a reload, and keeps its address', async (t) => {
  const cluster = await startCluster(t);
  cluster.answer = 'no';
  const { service, kept } = await openWindow(t, { url: cluster.url, access: {} });
  await assert.rejects(service.restore(), UserError);
  const state = service.state();
  assert.ok(state.kind === 'none' && state.message);
  assert.deepEqual(kept(), { url: cluster.url, access: {} });
});

test('a joined cluster that does not answer is never given up: it was last heard, until it answers again', async (t) => {
  const cluster = await startCluster(t);
  const { service, states } = await openWindow(t);
  const before = Date.now();
  await service.join({ url: cluster.url, access: {} });
  const joined = service.state();
  cluster.answer = 'no';
  for (let looks = 0; looks < 10; looks += 1) {
    await service.refresh();
  }
  const state = service.state();
  assert.ok(state.kind === 'running' && state.silence);
  assert.ok(state.silence.lastHeard >= before && state.silence.lastHeard <= Date.now());
  assert.match(state.silence.reason, /127\.0\.0\.1/);
  assert.ok(service.client(), 'its runs are still asked for');
  assert.equal(states.length, 2, 'that it goes on is not told again');
  cluster.answer = 'yes';
  await service.refresh();
  assert.deepEqual(service.state(), joined);
});

test('a cluster that does not know the token any more is silent, and says why', async (t) => {
  const cluster = await startCluster(t);
  const { service } = await openWindow(t);
  await service.join({ url: cluster.url, access: { token: { from: 'typed', token: 'a-token' } } });
  cluster.answer = 'wrong token';
  await service.refresh();
  const state = service.state();
  assert.ok(state.kind === 'running');
  assert.match(state.silence?.reason ?? '', /token/);
});

test('what goes on is asked for while somebody looks, and a part that Ray does not tell costs only that part', async (t) => {
  const cluster = await startCluster(t);
  const { service } = await openWindow(t);
  const looked = (): Promise<void> =>
    new Promise((resolve) => {
      const subscription = service.onDidLook(() => {
        subscription.dispose();
        resolve();
      });
    });
  await service.join({ url: cluster.url, access: {} });
  assert.deepEqual(service.activity(), {});
  const [head] = nodes.data.result.result;
  const glanced = looked();
  service.attend('glance');
  await glanced;
  assert.deepEqual(service.activity().usage?.get(head?.node_id ?? ''), { cpus: 1.5, gpus: 0 });
  assert.equal(service.activity().jobs, undefined);
  const closely = looked();
  service.attend('close');
  await closely;
  await service.refresh();
  assert.equal(service.activity().jobs?.length, 6);
  assert.deepEqual([...(service.activity().memory?.values() ?? [])], [{ total: 25_276_510_208, used: 759_046_144 }]);
  cluster.broken = '/api/cluster_status';
  await service.refresh();
  assert.equal(service.activity().usage, undefined);
  assert.equal(service.activity().jobs?.length, 6);
  const state = service.state();
  assert.ok(state.kind === 'running' && !state.silence);
});

test('a joined cluster that was started anew is another session', async (t) => {
  const cluster = await startCluster(t);
  const { service, states } = await openWindow(t);
  await service.join({ url: cluster.url, access: {} });
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
  await service.join({ url: cluster.url, access: {} });
  await assert.rejects(service.join({ url: 'http://127.0.0.1:9', access: {} }), UserError);
  assert.equal(service.state().kind, 'running');
  assert.deepEqual(kept(), { url: cluster.url, access: {} });
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
