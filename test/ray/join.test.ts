/** Joining real clusters that others started: one that asks for a token, and one to which the environment would lead. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type JoinedCluster, type TokenSource, tokenSourcesOfRay } from '../../src/cluster/clusterAccess';
import { dashboardOf, discoverClusters } from '../../src/cluster/discoverClusters';
import { joinWithAccess } from '../../src/cluster/joinCluster';
import { listProcesses } from '../../src/cluster/processes';
import { type ClusterService, createClusterService } from '../../src/cluster/service';
import { UserError } from '../../src/common/userError';
import { isSupportedCluster } from '../../src/python/supportedVersions';
import { normaliseAddress } from '../../src/ray/address';
import { jobHasEnded } from '../../src/ray/client';
import { RayError } from '../../src/ray/rayError';
import { type ForeignCluster, startForeignCluster } from '../support/foreignCluster';
import { testPython } from '../support/testPython';

const TOKEN = 'f00dcafe'.repeat(8);
/** An empty zip. */
const NOTHING = Buffer.from('504b0506000000000000000000000000000000000000', 'hex');
/** As the driver joins its cluster. */
const WHERE = [
  'import os, ray',
  'ray.init(address=os.environ.get("RAY_ADDRESS", "auto"), log_to_driver=False)',
  'print("session", ray._private.worker.global_worker.node.session_name)',
].join('; ');

describe('a cluster that others started', () => {
  let home: string;
  let closed: ForeignCluster;
  let open: ForeignCluster;
  const services: ClusterService[] = [];

  before(async () => {
    home = await mkdtemp('/tmp/home-');
    [closed, open] = await Promise.all([startForeignCluster(TOKEN), startForeignCluster()]);
    // What a user's shell may hold leads to the other one.
    process.env.RAY_ADDRESS = `127.0.0.1:${open.gcsPort}`;
    process.env.RAY_API_SERVER_ADDRESS = `http://${open.dashboard}`;
  });
  after(async () => {
    for (const service of services) {
      service.dispose();
    }
    await Promise.all([closed?.end(), open?.end()]);
    await rm(home, { recursive: true, force: true });
  });

  /** What one window has, with what an earlier one kept. */
  function openWindow(kept?: JoinedCluster): ClusterService {
    let joined = kept;
    const service = createClusterService({
      storageFolder: join(home, 'storage'),
      watcher: join(home, 'none'),
      resolvePython: async () => {
        throw new UserError('Nothing is started here.');
      },
      joined: {
        load: async () => joined,
        save: async (cluster) => {
          joined = cluster;
        },
        forget: async () => {
          joined = undefined;
        },
      },
    });
    services.push(service);
    return service;
  }

  const raysTokens = (): Promise<readonly TokenSource[]> =>
    tokenSourcesOfRay({ HOME: home, RAY_AUTH_TOKEN_PATH: closed.tokenFile });

  async function joinByItself(service: ClusterService, url: string): Promise<void> {
    const questions = {
      access: () => assert.fail('nobody is to be asked'),
      sendReadable: () => assert.fail('nothing goes over the network'),
    };
    await joinWithAccess({ url, join: service.join, kept: undefined, sources: await raysTokens(), questions });
  }

  function sessionOf(service: ClusterService): string | undefined {
    const state = service.state();
    return state.kind === 'running' ? state.sessionName : undefined;
  }

  it('is found, whether it asks for a token or not, and the variables are shown as what they are', async () => {
    const found = await discoverClusters({ startedUrl: undefined });
    const ours = (cluster: ForeignCluster) => found.find(({ url }) => url === `http://${cluster.dashboard}`);
    assert.deepEqual([ours(closed)?.version, ours(closed)?.origins], [undefined, ['process']]);
    assert.equal(ours(open)?.version?.sessionName, open.sessionName);
    assert.deepEqual(ours(open)?.origins, ['process', 'RAY_ADDRESS', 'RAY_API_SERVER_ADDRESS']);
    // Typed by mistake, the control store's address leads to the dashboard.
    assert.equal(dashboardOf(found, `localhost:${closed.gcsPort}`), `http://${closed.dashboard}`);
  });

  it("is joined as people write its address, with the token of Ray's own file", async () => {
    const service = openWindow();
    await joinByItself(service, normaliseAddress(closed.dashboard.replace('127.0.0.1', 'localhost')));
    assert.equal(sessionOf(service), closed.sessionName);
    assert.equal(service.token(), TOKEN);
    const state = service.state();
    assert.ok(state.kind === 'running' && state.origin === 'joined');
    const python = await service.client()?.pythonVersion();
    assert.ok(isSupportedCluster(state.rayVersion, python ?? ''), `Ray ${state.rayVersion} on Python ${python}`);
  });

  it('is the one that auto means when it is the only one', async () => {
    const processes = async () => (await listProcesses('own')).filter((row) => row.commandLine.includes(closed.folder));
    const found = await discoverClusters({
      startedUrl: undefined,
      env: {},
      processes,
      gymAddress: async () => undefined,
      usualUrl: 'http://127.0.0.1:9',
    });
    assert.equal(found.length, 1);
    const service = openWindow();
    await joinByItself(service, found[0]?.url ?? '');
    assert.equal(sessionOf(service), closed.sessionName);
  });

  it('runs the job that is sent to it, whatever RAY_ADDRESS says', async () => {
    const service = openWindow();
    await joinByItself(service, `http://${closed.dashboard}`);
    const state = service.state();
    const client = service.client();
    assert.ok(client && state.kind === 'running');
    // Started by its path, not from an environment that is active: what it calls `python` is another one.
    let python: string | undefined;
    // A node that has only just started has not reported it yet.
    while (python === undefined) {
      await wait(100);
      python = await client.pythonOf(state.nodes[0]?.id ?? '');
    }
    assert.equal(python, testPython());
    await client.submitJob({
      submissionId: 'where',
      entrypoint: `${python} -c '${WHERE}'`,
      runtimeEnv: { workingDir: await client.uploadPackage(NOTHING), envVars: {} },
      metadata: {},
    });
    while (!jobHasEnded(await client.job('where'))) {
      await wait(100);
    }
    const log = await client.jobLogs('where');
    assert.match(log, new RegExp(`^session ${closed.sessionName}$`, 'm'), log);
    const other = openWindow();
    await other.join({ url: `http://${open.dashboard}`, access: {} });
    assert.deepEqual(await other.client()?.jobs(), []);
  });

  it('is not joined with a wrong token, and the window keeps what it had', async () => {
    const service = openWindow();
    await service.join({ url: `http://${open.dashboard}`, access: {} });
    const access = { token: { from: 'typed', token: 'wrong'.repeat(8) } } as const;
    await assert.rejects(
      service.join({ url: `http://${closed.dashboard}`, access }),
      (error) => error instanceof RayError && error.kind === 'forbidden' && !error.message.includes('wrongwrong'),
    );
    assert.equal(sessionOf(service), open.sessionName);
  });

  it('goes on when the token is removed from its file, and asks for it after the next reload', async () => {
    const joined: JoinedCluster = {
      url: `http://${closed.dashboard}`,
      access: { token: { from: 'file', path: closed.tokenFile } },
    };
    const service = openWindow();
    await service.join(joined);
    await rm(closed.tokenFile);
    await service.refresh();
    assert.equal(sessionOf(service), closed.sessionName);

    const reloaded = openWindow(joined);
    await assert.rejects(reloaded.restore(), (error) => {
      assert.ok(error instanceof UserError);
      assert.match(error.message, /is not there any more/);
      assert.deepEqual(error.actions[0]?.args, [joined.url]);
      return true;
    });
    assert.equal(reloaded.state().kind, 'none');
    await writeFile(closed.tokenFile, TOKEN, { mode: 0o600 });
    await reloaded.restore();
    assert.equal(sessionOf(reloaded), closed.sessionName);
  });
});
