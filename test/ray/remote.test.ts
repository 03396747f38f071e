/** A run on a cluster of two nodes that share no disk with each other nor with the extension, through the dashboard alone. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { request } from 'undici';
import * as v from 'valibot';
import type { NewRun } from '../../src/benchmark/runs';
import { loadClusterRecord } from '../../src/cluster/clusterRecord';
import { findClusterPorts } from '../../src/cluster/ports';
import { RAYS_CHOICE } from '../../src/cluster/resources';
import type { ClusterService } from '../../src/cluster/service';
import type { RunSnapshot } from '../../src/protocol/runSnapshot';
import type { TestEndpoint } from '../support/endpoint';
import { eventually } from '../support/rayClusters';
import { type RealRuns, startRealRuns, timesAsked } from '../support/realRuns';
import { testPython } from '../support/testPython';

const actorsAnswer = v.object({
  data: v.object({ result: v.object({ result: v.array(v.object({ class_name: v.string(), node_id: v.string() })) }) }),
});

/** The second node needs a disk of its own, which only root can lay over the first one's. */
const skip = spawnSync('unshare', ['--mount', 'true']).status === 0 ? false : 'mount namespaces are not allowed here';

describe('a cluster elsewhere', { skip }, () => {
  let real: RealRuns;
  let folder: string;
  let cluster: ClusterService;
  let node: ChildProcess;
  let model: TestEndpoint;
  let session: string;

  before(async () => {
    real = await startRealRuns({
      choices: { shards: 4, repeats: 3, requestsInFlight: 2, processesAtMost: 2 },
      resources: { ...RAYS_CHOICE, numCpus: 1 },
    });
    ({ folder, cluster } = real);
    model = await real.endpoint({ latencyMs: 50 });
    node = await joinSecondNode();
  });
  after(async () => {
    node?.kill('SIGTERM');
    await real.close();
  });

  /** One that has another disk where the first has its results: a file system of its own is laid over it. */
  async function joinSecondNode(): Promise<ChildProcess> {
    const record = await loadClusterRecord(join(folder, 'storage'));
    const client = cluster.client();
    assert.ok(record && client);
    session = join(record.folder, 'r', record.sessionName);
    if (!(await stat(session).catch(() => undefined))) {
      const [found] = (await readdir(record.folder, { recursive: true })).filter((name) =>
        name.endsWith(record.sessionName),
      );
      session = join(record.folder, found ?? '');
    }
    const results = join(session, 'logs', 'shardboard');
    await mkdir(results, { mode: 0o700 });
    const ports = await findClusterPorts();
    // And over where Ray unpacks what jobs bring along: two nodes of one machine would remove each other's.
    const separate = [results, join(session, 'runtime_resources')].map((place) => `mount -t tmpfs tmpfs '${place}'`);
    const start = [
      `${separate.join(' && ')} && exec '${testPython()}' -m ray.scripts.scripts start --block`,
      `--address=${record.gcsAddress} --num-cpus=1 --disable-usage-stats`,
      `--dashboard-agent-listen-port=${ports.dashboardAgent}`,
    ];
    const child = spawn('unshare', ['--mount', 'sh', '-c', start.join(' ')], {
      detached: true,
      stdio: 'ignore',
      env: {
        ...process.env,
        RAY_AUTH_MODE: 'token',
        RAY_AUTH_TOKEN_PATH: record.tokenFile,
        PYTHONDONTWRITEBYTECODE: '',
      },
    });
    await Promise.race([
      once(child, 'exit').then(([code]) => assert.fail(`the second node could not join (${code})`)),
      eventually(async () => (await client.nodes()).filter(({ state }) => state === 'ALIVE').length === 2),
    ]);
    return child;
  }

  const submit = (choices: Partial<NewRun>): Promise<string> =>
    real.submit({ modelUrl: model.url, ...choices }, { isHere: false });

  /** When a run has ended its results still have to come. */
  async function untilFetched(id: string): Promise<RunSnapshot> {
    const ended = await real.untilEnded(id);
    assert.equal(ended.status, 'complete', ended.message ?? '');
    return await eventually(async () => {
      const run = real.runs.snapshot(id);
      assert.doesNotMatch(run?.message ?? '', /could not be brought here/);
      return run?.bundlePath?.startsWith(folder) && run;
    });
  }

  /** Ray's ids of the nodes whose processes asked the shards of a run. */
  async function nodesOfShards(id: string): Promise<Set<string>> {
    const state = cluster.state();
    const record = await loadClusterRecord(join(folder, 'storage'));
    assert.ok(state.kind === 'running' && record);
    const job = (await cluster.client()?.job(id))?.jobId;
    const filter = `filter_keys=job_id&filter_predicates=%3D&filter_values=${job}`;
    const { body } = await request(`${state.dashboardUrl}/api/v0/actors?${filter}&detail=1&limit=1000`, {
      headers: { authorization: `Bearer ${(await readFile(record.tokenFile, 'utf8')).trim()}` },
    });
    const answer = v.parse(actorsAnswer, await body.json());
    const askers = answer.data.result.result.filter((actor) => actor.class_name === 'Asker');
    return new Set(askers.map(({ node_id }) => node_id));
  }

  it('asks on both nodes, and brings every answer and the bundle here', async () => {
    const run = await untilFetched(await submit({}));
    assert.deepEqual([run.status, run.answered], ['complete', 36], run.message ?? '');
    assert.equal(run.outputFolder, join(folder, 'results', run.id));
    const bundle = JSON.parse(await readFile(run.bundlePath ?? '', 'utf8'));
    assert.deepEqual([bundle.n_results, bundle.config.complete], [36, true]);
    const results = await readFile(join(run.outputFolder, 'results.jsonl'), 'utf8');
    assert.equal(results.trim().split('\n').length, 36);
    // Two processes, and so two logs: one was written by the process on this node, one by the driver for the other.
    assert.equal((await readdir(join(run.outputFolder, 'answers'))).length, 2);
    assert.equal((await nodesOfShards(run.id)).size, 2, 'shards ran on both nodes');
    // What the other node kept until it was told is gone with the run.
    assert.deepEqual(
      (await readdir(tmpdir())).filter((name) => name.startsWith('shardboard.run-')),
      [],
    );
    // Nobody else of that machine can look into it.
    const place = join(session, 'logs', 'shardboard', run.id);
    assert.equal((await stat(place)).mode & 0o077, 0);
  });

  it('goes on from what was fetched when the first cluster has lost it', async () => {
    const pilot = await untilFetched(await submit({ repeats: 1, shards: 2 }));
    assert.deepEqual([pilot.status, pilot.answered], ['complete', 12], pilot.message ?? '');
    await rm(join(session, 'logs', 'shardboard', pilot.id), { recursive: true });
    const before = timesAsked(model);
    const whole = await untilFetched(await submit({ outputFolder: pilot.outputFolder }));
    assert.deepEqual([whole.status, whole.answered], ['complete', 36], whole.message ?? '');
    assert.equal(timesAsked(model) - before, 24);
    assert.equal(whole.outputFolder, pilot.outputFolder);
  });
});
