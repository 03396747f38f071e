import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type DiscoverySources, discoverClusters } from '../../src/cluster/discoverClusters';
import { rayAddressOfGym } from '../../src/cluster/gymCluster';
import { parseProcesses } from '../../src/cluster/processes';
import version from '../fixtures/ray/version.json';
import { always, type Handler, startRayServer } from './rayServer';

const SESSION = version.session_name;
const NOWHERE = 'http://127.0.0.1:9';
const ADDRESSES = ['127.0.0.1', '192.0.2.2'];

async function startCluster(t: TestContext, handler: Handler = always(200, JSON.stringify(version))) {
  const server = await startRayServer(t, handler);
  return { ...server, port: new URL(server.url).port };
}

/** What `ps` says of a cluster with this dashboard. */
function dashboardProcess(port: string, gcs: string) {
  return parseProcesses(
    ` 1 1 1 S Tue Dec  1 05:30:35 2026 python /x/ray/dashboard/dashboard.py --host=127.0.0.1 --port=${port} --temp-dir=/tmp/x --gcs-address=${gcs}\n`,
  );
}

async function discover(sources: Partial<DiscoverySources>) {
  return await discoverClusters({
    startedUrl: undefined,
    env: {},
    processes: async () => [],
    gymAddress: async () => undefined,
    addresses: ADDRESSES,
    usualUrl: NOWHERE,
    ...sources,
  });
}

test('one cluster that is found in many ways is one, and each way is told', async (t) => {
  const { url, port, received } = await startCluster(t);
  const found = await discover({
    startedUrl: url,
    env: { RAY_ADDRESS: '192.0.2.2:6379', RAY_API_SERVER_ADDRESS: `http://localhost:${port}` },
    processes: async () => dashboardProcess(port, '192.0.2.2:6379'),
    gymAddress: async () => '127.0.0.1:6379',
    usualUrl: url,
  });
  assert.deepEqual(
    found.map(({ origins, ...one }) => ({ ...one, origins: [...origins] })),
    [
      {
        url,
        gcsAddress: '192.0.2.2:6379',
        folder: '/tmp/x',
        version: { rayVersion: '2.60.0', sessionName: SESSION },
        origins: ['started', 'process', 'gym', 'RAY_ADDRESS', 'RAY_API_SERVER_ADDRESS', 'usual'],
      },
    ],
  );
  assert.deepEqual(
    received.map(({ path, headers }) => [path, headers.authorization]),
    [['/api/version', undefined]],
    'one question, and no token',
  );
});

test('a cluster that asks for a token is offered, and what is no cluster is not', async (t) => {
  const closed = await startCluster(t, always(401, 'Unauthorized: Missing authentication token'));
  const page = await startCluster(t, always(200, '<!doctype html><title>Log in</title>'));
  const other = await startCluster(t, always(404, 'not found'));
  const away = await startCluster(t, (_received, response) => {
    response.writeHead(302, { location: closed.url }).end();
  });
  const found = await discover({
    env: { RAY_ADDRESS: page.url, RAY_API_SERVER_ADDRESS: away.url },
    processes: async () => [...dashboardProcess(closed.port, ''), ...dashboardProcess(other.port, '')],
  });
  assert.deepEqual(
    found.map(({ url, version }) => [url, version]),
    [[closed.url, undefined]],
  );
});

test('one that never answers, and one that never ends its answer, keep nobody waiting', async (t) => {
  const silent = await startCluster(t, () => undefined);
  const endless = await startCluster(t, (_received, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536))) {
        // Until its buffer is full.
      }
    };
    response.on('drain', more);
    more();
  });
  const good = await startCluster(t);
  const found = await discover({ usualUrl: silent.url, startedUrl: endless.url, env: { RAY_ADDRESS: good.url } });
  assert.deepEqual(
    found.map(({ url }) => url),
    [good.url],
  );
});

for (const address of ['auto', 'local', 'anyscale://x', '']) {
  test(`RAY_ADDRESS="${address}" is no cluster`, async () => {
    assert.deepEqual(await discover({ env: { RAY_ADDRESS: address } }), []);
  });
}

const CANARY = 'sk-CANARY-0123456789';
const gymConfiguration = (lines: string): string =>
  JSON.stringify(`policy_api_key: ${CANARY}\n${lines}\nhead_server:\n  host: 127.0.0.1\n  port: 11000\n`);

async function askGym(t: TestContext, handler: Handler) {
  const server = await startRayServer(t, handler);
  return { address: await rayAddressOfGym(Number(new URL(server.url).port)), server };
}

test('of the configuration of a running Gym, its Ray address is read', async (t) => {
  for (const [line, expected] of [
    ['ray_head_node_address: 192.0.2.2:46403', '192.0.2.2:46403'],
    ["ray_head_node_address: '192.0.2.2:46403'", '192.0.2.2:46403'],
    ['ray_head_node_address: ray://head.example.com:10001', 'ray://head.example.com:10001'],
    ['ray_head_node_address: "[2001:db8::2]:6379"', '[2001:db8::2]:6379'],
  ] as const) {
    const { address, server } = await askGym(t, always(200, gymConfiguration(line)));
    assert.equal(address, expected);
    assert.equal(server.received[0]?.path, '/global_config_dict_yaml');
  }
});

test('nothing else of it comes out, whatever it holds', async (t) => {
  for (const body of [
    gymConfiguration('seed: 1'),
    gymConfiguration('ray_head_node_address: null'),
    gymConfiguration(`ray_head_node_address: ${CANARY}`),
    gymConfiguration(`ray_head_node_address: "127.0.0.1:1 ${CANARY}"`),
    gymConfiguration('resources:\n  ray_head_node_address: 192.0.2.2:1'),
    gymConfiguration(`ray_head_node_address: !!python/${CANARY} [`),
    `"${CANARY}`,
    JSON.stringify({ ray_head_node_address: '192.0.2.2:1', key: CANARY }),
  ]) {
    const { address } = await askGym(t, always(200, body));
    assert.equal(address, undefined, body);
  }
  assert.equal((await askGym(t, always(500, CANARY))).address, undefined);
  assert.equal(await rayAddressOfGym(9), undefined);
});

test('a cluster of Gym is offered without anything of the configuration', async (t) => {
  const cluster = await startCluster(t);
  const gym = await startRayServer(t, always(200, gymConfiguration('ray_head_node_address: 192.0.2.2:46403')));
  const found = await discover({
    processes: async () => dashboardProcess(cluster.port, '192.0.2.2:46403'),
    gymAddress: () => rayAddressOfGym(Number(new URL(gym.url).port)),
  });
  assert.deepEqual(found[0]?.origins, ['process', 'gym']);
  assert.doesNotMatch(JSON.stringify(found), /CANARY/);
});
