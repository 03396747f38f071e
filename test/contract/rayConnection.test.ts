/** What stands between us and Ray: TLS, a proxy in front of it, and a proxy on the way out. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect as connectTo, type Server } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { WebSocketServer } from 'ws';
import { reachCluster } from '../../src/cluster/reachCluster';
import { createRayClient, type RayClient } from '../../src/ray/client';
import { RayError } from '../../src/ray/rayError';
import nodes from '../fixtures/ray/nodes.json';
import version from '../fixtures/ray/version.json';
import { projectRoot } from '../support/projectRoot';
import { always, type Handler, startRayServer } from './rayServer';

const SECRET = 'CANARY-0123456789';
/** Signed by itself, valid from 2020 to 2126, for localhost and 127.0.0.1; good for nothing but these tests. */
const certificate = readFixture('certificate.pem');

function readFixture(name: string): string {
  return readFileSync(join(projectRoot, 'test', 'fixtures', 'tls', name), 'utf8');
}

const answerAsRay: Handler = ({ path }, response) => {
  response.end(JSON.stringify(path.endsWith('/api/version') ? version : nodes));
};

async function listen(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function startTlsServer(t: TestContext): Promise<string> {
  const server = createServer({ cert: certificate, key: readFixture('key.pem') }, (_request, response) => {
    response.end(JSON.stringify(version));
  });
  t.after(() => server.closeAllConnections());
  return `https://localhost:${await listen(t, server)}`;
}

function clientOf(t: TestContext, endpoint: Parameters<typeof createRayClient>[0]): RayClient {
  const client = createRayClient(endpoint);
  t.after(() => client.close());
  return client;
}

async function failureOf(work: Promise<unknown>): Promise<RayError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof RayError, `a RayError, not ${error}`);
  assert.ok(!error.message.includes(SECRET), error.message);
  return error;
}

test('a certificate that nobody knows is not believed, and the setting that helps is offered', async (t) => {
  const error = await failureOf(clientOf(t, { url: await startTlsServer(t) }).version());
  assert.equal(error.kind, 'unreachable');
  assert.match(error.message, /signed by nobody whom this machine knows.*shardboard\.caFile/);
  assert.deepEqual(error.actions[0]?.args, ['shardboard.caFile']);
});

test('it is believed when its file is named', async (t) => {
  const { rayVersion } = await clientOf(t, { url: await startTlsServer(t), ca: certificate }).version();
  assert.equal(rayVersion, '2.60.0');
});

test('so is it on the socket that tells a log, which else is refused', async (t) => {
  const server = createServer({ cert: certificate, key: readFixture('key.pem') });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.send('a line\n');
    socket.close();
  });
  t.after(() => server.closeAllConnections());
  const url = `https://localhost:${await listen(t, server)}`;
  const texts: string[] = [];
  const { signal } = new AbortController();
  await clientOf(t, { url, ca: certificate }).tailJobLogs('run-1', (text) => texts.push(text), signal);
  assert.deepEqual(texts, ['a line\n']);
  const error = await failureOf(clientOf(t, { url }).tailJobLogs('run-1', () => undefined, signal));
  assert.match(error.message, /signed by nobody whom this machine knows/);
});

test('a socket that is refused says why, and does not show what was sent', async (t) => {
  const server = createHttpServer().on('upgrade', (_request, socket) => {
    const body = `Forbidden: ${SECRET}`;
    socket.end(`HTTP/1.1 500 Error\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  });
  const url = `http://127.0.0.1:${await listen(t, server)}`;
  const { signal } = new AbortController();
  const error = await failureOf(clientOf(t, { url, token: SECRET }).tailJobLogs('run-1', () => undefined, signal));
  assert.match(error.message, /could not follow the job's log \(HTTP 500\)\. Forbidden: <hidden>/);
});

test('https where only http is spoken is explained, and http is offered', async (t) => {
  const { url } = await startRayServer(t, answerAsRay);
  const error = await failureOf(clientOf(t, { url: url.replace('http', 'https') }).version());
  assert.match(error.message, /does not speak https/);
  assert.deepEqual(error.actions[0]?.args, [url]);
});

test('a proxy in front of Ray gets the headers and its path, with every request', async (t) => {
  const { url, received } = await startRayServer(t, answerAsRay);
  const headers = { 'x-api-key': SECRET };
  const token = { from: 'typed', token: 'a-token' } as const;
  const reached = await reachCluster({ url: `${url}/teams/one`, access: { token, headers } }, undefined);
  t.after(() => reached.client.close());
  assert.deepEqual(
    received.map(({ path, headers }) => [path, headers['x-api-key'], headers.authorization]),
    [
      ['/teams/one/api/version', SECRET, 'Bearer a-token'],
      ['/teams/one/api/v0/nodes?limit=10000', SECRET, 'Bearer a-token'],
    ],
  );
});

test('nothing goes to the host that a redirect names', async (t) => {
  const elsewhere = await startRayServer(t, answerAsRay);
  const { url } = await startRayServer(t, (_received, response) => {
    response.writeHead(307, { location: `${elsewhere.url}/api/version` }).end();
  });
  const access = { token: { from: 'typed', token: SECRET }, headers: { cookie: SECRET } } as const;
  const error = await failureOf(reachCluster({ url, access }, undefined));
  assert.equal(error.kind, 'unexpected_answer');
  assert.deepEqual(elsewhere.received, []);
});

test('the page on which a proxy wants a login leads to its header', async (t) => {
  const { url } = await startRayServer(t, always(200, '<!DOCTYPE html><form action="/login">'));
  const error = await failureOf(reachCluster({ url, access: {} }, undefined));
  assert.match(error.message, /web page/);
  assert.deepEqual(error.actions.at(-1)?.args, [url, { askFirst: true }]);
});

test('a proxy that wants more than an address is not told that its token is wrong', async (t) => {
  const { url } = await startRayServer(t, always(403, 'Forbidden'));
  const error = await failureOf(reachCluster({ url, access: {} }, undefined));
  assert.equal(error.kind, 'forbidden');
  assert.match(error.message, /HTTP 403.*a header, or Ray a token/);
});

test('a proxy that repeats what it was sent does not get it shown', async (t) => {
  for (const status of [400, 404, 500]) {
    const { url } = await startRayServer(t, always(status, `Bad key ${SECRET}`));
    const error = await failureOf(clientOf(t, { url, token: SECRET }).version());
    assert.match(error.message, /Bad key <hidden>/);
    await failureOf(clientOf(t, { url, headers: { 'x-api-key': SECRET } }).version());
  }
});

test('a token that is refused, or gone, leads back to joining', async (t) => {
  const { url } = await startRayServer(t, always(403, 'Forbidden: Invalid authentication token'));
  const nowhere = { token: { from: 'file', path: '/no/such/token' } } as const;
  const gone = await failureOf(reachCluster({ url, access: nowhere }, undefined));
  assert.equal(gone.kind, 'unauthorized');
  assert.match(gone.message, /was in \/no\/such\/token/);
  assert.deepEqual(gone.actions[0]?.args, [url]);
  const access = { token: { from: 'typed', token: SECRET } } as const;
  const refused = await failureOf(reachCluster({ url, access }, undefined));
  assert.equal(refused.kind, 'forbidden');
  assert.deepEqual(refused.actions[0]?.args, [url]);
});

/** A proxy that lets everything through to 127.0.0.1, whatever host is asked for. */
async function startProxy(t: TestContext, refuse = false): Promise<{ url: string; tunnels: string[] }> {
  const tunnels: string[] = [];
  const server = createHttpServer().on('connect', (request, socket) => {
    tunnels.push(request.url ?? '');
    if (refuse) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const port = Number(/:(\d+)$/.exec(request.url ?? '')?.[1]);
    const inner = connectTo(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      inner.pipe(socket).pipe(inner);
    });
    inner.on('error', () => socket.destroy());
    socket.on('error', () => inner.destroy());
    t.after(() => inner.destroy());
  });
  return { url: `http://127.0.0.1:${await listen(t, server)}`, tunnels };
}

function setProxy(t: TestContext, variables: Readonly<Record<string, string>>): void {
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy'];
  const before = names.map((name) => [name, process.env[name]] as const);
  for (const name of names) {
    delete process.env[name];
  }
  Object.assign(process.env, variables);
  t.after(() => {
    for (const [name, value] of before) {
      delete process.env[name];
      Object.assign(process.env, value === undefined ? {} : { [name]: value });
    }
  });
}

test('another host is reached through the proxy of the environment, and this machine never is', async (t) => {
  const cluster = await startRayServer(t, answerAsRay);
  const proxy = await startProxy(t);
  setProxy(t, { HTTP_PROXY: proxy.url });
  await clientOf(t, { url: cluster.url }).version();
  assert.deepEqual(proxy.tunnels, []);
  const away = cluster.url.replace('127.0.0.1', 'ray.example.com');
  await clientOf(t, { url: away, token: 'a-token' }).version();
  assert.deepEqual(proxy.tunnels, [new URL(away).host]);
  assert.equal(cluster.received[1]?.headers.authorization, 'Bearer a-token');
});

test('NO_PROXY leaves a host out', async (t) => {
  const proxy = await startProxy(t);
  setProxy(t, { HTTP_PROXY: proxy.url, NO_PROXY: 'ray.invalid' });
  await failureOf(clientOf(t, { url: 'http://ray.invalid:8265' }).version());
  assert.deepEqual(proxy.tunnels, []);
});

test('a proxy that does not let it through is named', async (t) => {
  const proxy = await startProxy(t, true);
  setProxy(t, { HTTP_PROXY: proxy.url.replace('//', `//me:${SECRET}@`) });
  const error = await failureOf(clientOf(t, { url: 'http://ray.example.com:8265' }).version());
  assert.match(error.message, /proxy that HTTP_PROXY or HTTPS_PROXY names.*HTTP 407.*NO_PROXY/);
});

test('a certificate of a company is believed behind its proxy too', async (t) => {
  const { port } = new URL(await startTlsServer(t));
  const proxy = await startProxy(t);
  setProxy(t, { HTTPS_PROXY: proxy.url });
  const url = `https://ray.example.com:${port}`;
  const error = await failureOf(clientOf(t, { url, ca: certificate }).version());
  assert.match(error.message, /certificate is for another name/, 'believed, but made for localhost');
});
