import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findFreePort } from '../../src/cluster/ports';
import { endClusterProcesses } from '../../src/cluster/processes';
import { processIdentity } from '../../src/cluster/processIdentity';
import { createRayClient } from '../../src/ray/client';
import { testPython } from './testPython';

/** A real cluster that Shardboard did not start. */
export interface ForeignCluster {
  readonly folder: string;
  /** `127.0.0.1:port` of its dashboard. */
  readonly dashboard: string;
  readonly gcsPort: number;
  readonly sessionName: string;
  /** Holds the token that it asks for, if it asks for one. */
  readonly tokenFile: string;
  end(): Promise<void>;
}

/**
 * Starts a cluster as a user would in a terminal.
 *
 * @param token what it asks for; it is open without one
 */
export async function startForeignCluster(token?: string): Promise<ForeignCluster> {
  const folder = await mkdtemp('/tmp/foreign-');
  const tokenFile = join(folder, 'token');
  await writeFile(tokenFile, token ?? '', { mode: 0o600 });
  const gcs = await findFreePort();
  const dashboard = await findFreePort([gcs]);
  const clientServer = await findFreePort([gcs, dashboard]);
  const agent = await findFreePort([gcs, dashboard, clientServer]);
  const child = spawn(
    testPython(),
    [
      ...['-m', 'ray.scripts.scripts', 'start', '--head', '--disable-usage-stats', '--num-cpus=1'],
      ...[`--port=${gcs}`, `--dashboard-port=${dashboard}`, `--temp-dir=${join(folder, 'r')}`],
      ...[`--ray-client-server-port=${clientServer}`, `--dashboard-agent-listen-port=${agent}`],
    ],
    {
      detached: true,
      stdio: 'ignore',
      env: {
        ...process.env,
        RAY_AUTH_MODE: token === undefined ? 'disabled' : 'token',
        RAY_AUTH_TOKEN_PATH: tokenFile,
        PYTHONDONTWRITEBYTECODE: '',
      },
    },
  );
  const leader = child.pid && (await processIdentity(child.pid));
  const [exitCode] = await once(child, 'exit');
  assert.equal(exitCode, 0, 'the other cluster could be started');
  assert.ok(child.pid && leader);
  const owner = { processGroup: child.pid, leader, folder };
  const address = `127.0.0.1:${dashboard}`;
  const client = createRayClient({ url: `http://${address}`, token });
  try {
    for (;;) {
      const version = await client.version().catch(() => undefined);
      if (version) {
        return {
          folder,
          dashboard: address,
          gcsPort: gcs,
          sessionName: version.sessionName,
          tokenFile,
          async end() {
            await endClusterProcesses(owner, 0);
            await rm(folder, { recursive: true, force: true });
          },
        };
      }
      await wait(100);
    }
  } finally {
    await client.close();
  }
}
