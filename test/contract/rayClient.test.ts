import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createRayClient, type JobSubmission, jobHasEnded, type RayClient } from '../../src/ray/client';
import { RayError, type RayErrorKind } from '../../src/ray/rayError';
import clusterMetadata from '../fixtures/ray/cluster-metadata.json';
import clusterStatus from '../fixtures/ray/cluster-status.json';
import jobPending from '../fixtures/ray/job-pending.json';
import jobRunning from '../fixtures/ray/job-running.json';
import jobSucceeded from '../fixtures/ray/job-succeeded.json';
import jobsMixed from '../fixtures/ray/jobs-mixed.json';
import nodeDetail from '../fixtures/ray/node-detail.json';
import nodes from '../fixtures/ray/nodes.json';
import nodesSummary from '../fixtures/ray/nodes-summary.json';
import version from '../fixtures/ray/version.json';
import { always, type Handler, type RayServer, startRayServer } from './rayServer';

const token = 'f00dcafe'.repeat(8);
const submission: JobSubmission = {
  submissionId: 'run-1',
  entrypoint: 'python -m driver request.json',
  runtimeEnv: {
    workingDir: 'gcs://_ray_pkg_0123456789abcdef.zip',
    envVars: { RAY_DEDUP_LOGS: '0', KEY: 'sk-CANARY-123' },
  },
  metadata: { benchmark: 'gsm8k' },
};

async function connect(t: TestContext, handler: Handler): Promise<{ client: RayClient; server: RayServer }> {
  const server = await startRayServer(t, handler);
  const client = createRayClient({ url: server.url, token });
  t.after(() => client.close());
  return { client, server };
}

function failsAs(kind: RayErrorKind, text: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof RayError, `a RayError, not ${error}`);
    assert.equal(error.kind, kind, error.message);
    assert.match(error.message, text);
    assert.ok(!error.message.includes(token), 'no token in the message');
    assert.ok(!error.message.includes('Traceback'), 'no traceback in the message');
    return true;
  };
}

test('reads what Ray 2.60 answered', async (t) => {
  const answers: Record<string, unknown> = {
    '/api/version': version,
    '/api/v0/cluster_metadata': clusterMetadata,
    '/api/v0/nodes?limit=10000': nodes,
    '/nodes/e26a3e4e': nodeDetail,
    '/api/jobs/nemo-run-002': jobRunning,
    '/api/jobs/': jobsMixed,
    '/api/jobs/nemo-run-002/logs': { logs: 'line 1\nline 2\n' },
  };
  const { client, server } = await connect(t, ({ path }, response) => {
    response.end(JSON.stringify(answers[path]));
  });

  assert.deepEqual(await client.version(), {
    rayVersion: '2.60.0',
    sessionName: 'session_2026-11-30_20-12-14_931610_12256',
  });
  assert.equal(await client.pythonVersion(), '3.12.1');
  assert.deepEqual(await client.nodes(), [
    {
      id: 'e26a3e4e7daef4e2bc626b6946e6424bbeeadde94529a9986ceb3248',
      ip: '192.0.2.2',
      isHead: true,
      state: 'ALIVE',
      message: undefined,
      cpus: 2,
      gpus: 0,
      memory: 17285958861,
    },
  ]);
  assert.equal(await client.gcsAddress('e26a3e4e'), '192.0.2.2:29345');
  assert.equal(await client.pythonOf('e26a3e4e'), '/venv/bin/python');
  const job = await client.job('nemo-run-002');
  assert.equal(job.status, 'RUNNING');
  assert.equal(job.jobId, '04000000');
  assert.equal(job.startedAt, 1796069784659);
  assert.equal(job.endedAt, undefined);
  assert.deepEqual(job.metadata, { benchmark: 'minigsm', shards: '8' });
  assert.ok(!JSON.stringify(job).includes('sk-EXAMPLE-KEY'), 'the runtime environment is not kept');
  assert.equal(await client.jobLogs('nemo-run-002'), 'line 1\nline 2\n');

  const jobs = await client.jobs();
  assert.ok(jobs.some((one) => one.type === 'DRIVER' && one.submissionId === undefined));
  const failed = jobs.find((one) => one.submissionId === 'tail-1');
  assert.equal(failed?.status, 'FAILED');
  assert.equal(failed?.exitCode, 3);

  for (const { headers } of server.received) {
    assert.equal(headers['user-agent'], 'shardboard', 'Ray 2.49 fails without one');
    assert.equal(headers['sec-fetch-mode'], 'cors', 'reads look like those of a browser, so that Ray redacts');
    assert.equal(headers.authorization, `Bearer ${token}`);
  }
});

test('tells whether an actor lives', async (t) => {
  let actors: readonly unknown[] = [{ class_name: 'ServeController', state: 'ALIVE' }];
  const { server, client } = await connect(t, (_received, response) => {
    response.end(JSON.stringify({ result: true, data: { result: { result: actors } } }));
  });
  assert.equal(await client.hasLivingActor(), true);
  assert.match(server.received[0]?.path ?? '', /filter_keys=state&filter_predicates=%3D&filter_values=ALIVE/);
  actors = [];
  assert.equal(await client.hasLivingActor(), false);
});

test('tells what is used of each node, and nothing while Ray does not know', async (t) => {
  let status: unknown = clusterStatus;
  const { client } = await connect(t, ({ path }, response) => {
    response.end(JSON.stringify(path === '/api/cluster_status' ? status : nodesSummary));
  });
  const [node] = nodes.data.result.result;
  assert.deepEqual([...(await client.usage())], [[node?.node_id, { cpus: 1.5, gpus: 0 }]]);
  assert.deepEqual([...(await client.memory())], [[node?.node_id, { total: 25_276_510_208, used: 759_046_144 }]]);
  status = { result: true, data: { autoscalingStatus: null, autoscalingError: null, clusterStatus: null } };
  assert.equal((await client.usage()).size, 0);
  status = { result: true, data: { clusterStatus: { loadMetricsReport: { usageByNode: { a: { CPU: 'two' } } } } } };
  await assert.rejects(client.usage(), failsAs('unexpected_answer', /usageByNode\.a\.CPU/));
});

test("keys on other people's command lines do not come in", async (t) => {
  const entrypoint = 'python -m nemo_evaluator.engine.ray_launcher --api-key sk-CANARY-123456 --shards 8';
  const message = `Job failed, last log: Running ${entrypoint}`;
  const { client } = await connect(t, always(200, JSON.stringify([{ ...jobRunning, entrypoint, message }])));
  const jobs = JSON.stringify(await client.jobs());
  assert.ok(jobs.includes('--shards 8') && !jobs.includes('CANARY'));
});

test('a job has ended in each of the three final states only', async (t) => {
  const { client } = await connect(t, ({ path }, response) => {
    response.end(JSON.stringify(path.endsWith('pending') ? jobPending : jobSucceeded));
  });
  assert.equal(jobHasEnded(await client.job('pending')), false);
  assert.equal(jobHasEnded(await client.job('done')), true);
});

test('submits with a request that Ray does not take for one of a browser', async (t) => {
  const { client, server } = await connect(t, always(200, '{"job_id": "run-1", "submission_id": "run-1"}'));
  await client.submitJob(submission);
  const [post] = server.received;
  assert.equal(post?.method, 'POST');
  assert.equal(post?.path, '/api/jobs/');
  assert.ok(!Object.keys(post?.headers ?? {}).some((name) => name.startsWith('sec-fetch')));
  assert.deepEqual(JSON.parse(post?.body.toString() ?? ''), {
    submission_id: 'run-1',
    entrypoint: 'python -m driver request.json',
    runtime_env: {
      working_dir: 'gcs://_ray_pkg_0123456789abcdef.zip',
      env_vars: { RAY_DEDUP_LOGS: '0', KEY: 'sk-CANARY-123' },
    },
    metadata: { benchmark: 'gsm8k' },
  });
});

test('asks Ray to install packages for a job that brings some', async (t) => {
  const { client, server } = await connect(t, always(200, '{}'));
  await client.submitJob({ ...submission, runtimeEnv: { ...submission.runtimeEnv, packages: ['a==1'] } });
  assert.deepEqual(JSON.parse(server.received[0]?.body.toString() ?? '').runtime_env.pip, { packages: ['a==1'] });
});

test('keeps a path in front of the API, and escapes what it puts into one', async (t) => {
  const server = await startRayServer(t, always(200, JSON.stringify(jobRunning)));
  const client = createRayClient({ url: `${server.url}/ray/head/` });
  t.after(() => client.close());
  await client.job('a/b?c');
  assert.equal(server.received[0]?.path, '/ray/head/api/jobs/a%2Fb%3Fc');
  assert.equal(server.received[0]?.headers.authorization, undefined);
});

test('waits for a cluster that cannot take jobs yet', async (t) => {
  let calls = 0;
  const { client } = await connect(t, (_received, response) => {
    calls += 1;
    if (calls < 3) {
      response.writeHead(500).end('No available agent to submit job, please try again later.');
    } else {
      response.end('{}');
    }
  });
  await client.submitJob(submission);
  assert.equal(calls, 3);
});

test('gives up waiting for an agent when it is told to', async (t) => {
  const stop = new AbortController();
  const { client } = await connect(t, (_received, response) => {
    response.writeHead(500).end('No available agent to submit job, please try again later.');
    stop.abort();
  });
  await assert.rejects(client.submitJob(submission, { signal: stop.signal }), { name: 'AbortError' });
});

test('a submission whose answer got lost counts when Ray knows the job', async (t) => {
  const { client, server } = await connect(t, ({ method }, response) => {
    if (method === 'POST') {
      response.socket?.destroy();
    } else {
      response.end(JSON.stringify(jobPending));
    }
  });
  await client.submitJob(submission);
  assert.deepEqual(
    server.received.map(({ method }) => method),
    ['POST', 'GET'],
  );
});

test("does not let Ray's own id of a job be overwritten", async (t) => {
  const { client, server } = await connect(t, always(200, '{}'));
  await assert.rejects(client.submitJob({ ...submission, metadata: { job_submission_id: 'x' } }), /job_submission_id/);
  assert.equal(server.received.length, 0);
});

test("shows the last line of Ray's traceback, and no secret that stands in it", async (t) => {
  const traceback = `Traceback (most recent call last):\n  File "x.py", line 1, in f\nTypeError: env_vars must be strings, got {'KEY': 'sk-CANARY-123'}\n`;
  const { client } = await connect(t, always(400, traceback));
  await assert.rejects(client.submitJob(submission), (error: unknown) => {
    failsAs('server', /TypeError: env_vars must be strings, got {'KEY': '<hidden>'}/)(error);
    assert.ok(!JSON.stringify(error, Object.getOwnPropertyNames(error)).includes('sk-CANARY'));
    return true;
  });
});

test('uploads a package once', async (t) => {
  const stored = new Map<string, Buffer>();
  const { client, server } = await connect(t, ({ method, path, body }, response) => {
    if (method === 'PUT') {
      stored.set(path, body);
      response.end();
    } else {
      response.writeHead(stored.has(path) ? 200 : 404).end();
    }
  });
  const zip = Buffer.from('a small zip');
  const hash = createHash('sha256').update(zip).digest('hex').slice(0, 16);
  assert.equal(await client.uploadPackage(zip), `gcs://_ray_pkg_${hash}.zip`);
  assert.deepEqual(stored.get(`/api/packages/gcs/_ray_pkg_${hash}.zip`), zip);
  await client.uploadPackage(zip);
  assert.deepEqual(
    server.received.map(({ method }) => method),
    ['GET', 'PUT', 'GET'],
  );
});

test('refuses a package above the limit before it sends anything', async (t) => {
  const { client, server } = await connect(t, always(200, ''));
  await assert.rejects(client.uploadPackage(new Uint8Array(100 * 1024 * 1024 + 1)), failsAs('too_large', /100\.0 MiB/));
  assert.equal(server.received.length, 0);
});

test('stops a job, and says when there was nothing to stop', async (t) => {
  const { client, server } = await connect(t, ({ path }, response) => {
    response.end(JSON.stringify({ stopped: path.includes('running') }));
  });
  assert.equal(await client.stopJob('running'), true);
  assert.equal(await client.stopJob('ended'), false);
  assert.equal(server.received[0]?.path, '/api/jobs/running/stop');
});

const refusals: readonly [name: string, status: number, body: string, kind: RayErrorKind, text: RegExp][] = [
  [
    'a token it does not take',
    403,
    'Forbidden: Invalid authentication token',
    'forbidden',
    /does not accept the token/,
  ],
  ['a browser', 405, "'POST' method not allowed for browser traffic.", 'browser_blocked', /cluster is up/],
  ['an unknown job', 404, 'Job nope does not exist', 'not_found', /Job nope does not exist/],
  ['a body too large', 413, 'Maximum request body size 104857600 exceeded.', 'too_large', /104857600/],
  [
    'a fault of its own',
    500,
    'Traceback (most recent call last):\n  x\nValueError: Job dup-1 already exists.\n',
    'server',
    /ValueError: Job dup-1 already exists\.$/,
  ],
  ['a web page as error', 502, '<html><body>Bad gateway</body></html>', 'server', /HTTP 502\)\.$/],
  ['a redirect', 302, '', 'unexpected_answer', /not followed/],
];
for (const [name, status, body, kind, text] of refusals) {
  test(`explains ${name}`, async (t) => {
    const { client } = await connect(t, always(status, body));
    await assert.rejects(client.stopJob('nope'), failsAs(kind, text));
  });
}

test('explains that a token is wanted', async (t) => {
  const server = await startRayServer(t, always(401, 'Unauthorized: Missing authentication token'));
  const client = createRayClient({ url: server.url });
  t.after(() => client.close());
  await assert.rejects(client.version(), failsAs('unauthorized', /asks for a token/));
});

const strangers: readonly [name: string, body: string, text: RegExp][] = [
  ['a web page', '<!DOCTYPE html><title>Router</title>', /web page.*8265/],
  ['cut JSON', '{"version": "4", "ray_ver', /not JSON/],
  ['JSON of something else', '{"status": "ok"}', /ray_version/],
];
for (const [name, body, text] of strangers) {
  test(`does not take ${name} for Ray`, async (t) => {
    const { client } = await connect(t, always(200, body));
    await assert.rejects(client.version(), failsAs('unexpected_answer', text));
  });
}

test('explains a body that breaks off', async (t) => {
  const { client } = await connect(t, (_received, response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('{"logs": "hal');
    response.socket?.end();
  });
  await assert.rejects(client.jobLogs('run-1'), failsAs('unreachable', /broke/));
});

test('does not wait for ever', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { client } = await connect(t, () => t.mock.timers.tick(10_000));
  await assert.rejects(client.version(), failsAs('unreachable', /did not answer within 10 s/));
});

test('stops waiting when it is told to', async (t) => {
  const stop = new AbortController();
  const { client } = await connect(t, () => stop.abort());
  await assert.rejects(client.version({ signal: stop.signal }), { name: 'AbortError' });
});

test('explains that nobody listens', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  await new Promise((resolve) => server.close(resolve));
  const client = createRayClient({ url: `http://localhost:${address.port}` });
  t.after(() => client.close());
  await assert.rejects(client.version(), failsAs('unreachable', /Nothing answers at http:\/\/localhost/));
});

test('explains a port that does not speak HTTP', async (t) => {
  const server = createServer((socket) => socket.end('\0\0\x12\x04 this is gRPC'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const client = createRayClient({ url: `http://127.0.0.1:${address.port}` });
  t.after(() => client.close());
  await assert.rejects(client.version(), failsAs('unexpected_answer', /does not speak HTTP/));
});
