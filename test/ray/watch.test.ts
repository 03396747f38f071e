/** Watching a real cluster: what others do on it, what happens when a part of it is silent, and when a part has ended. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type ClusterRecord, loadClusterRecord } from '../../src/cluster/clusterRecord';
import { driverAccess, tokenFileOf } from '../../src/cluster/driverAccess';
import { listClusterProcesses } from '../../src/cluster/processes';
import { type ClusterService, createClusterService } from '../../src/cluster/service';
import { terminalVariables } from '../../src/cluster/terminalVariables';
import { watchCluster } from '../../src/cluster/watch';
import { createRayClient } from '../../src/ray/client';
import { clusterStatus } from '../../src/views/clusterStatus';
import { clusterLines, linesById } from '../../src/views/clusterTree';
import { testPython } from '../support/testPython';
import { watcherProgram } from '../support/watcherProgram';

/** Takes a CPU of the cluster that its variables name, and ends when its input does. */
const SCRIPT = `
import ray, sys
ray.init()
@ray.remote(num_cpus=1)
class Taken:
    def here(self):
        return True
taken = Taken.remote()
ray.get(taken.here.remote())
print("taken", flush=True)
sys.stdin.read()
`;

describe('a cluster that is watched', () => {
  let storageFolder: string;
  let service: ClusterService;
  let record: ClusterRecord;

  before(async () => {
    storageFolder = await mkdtemp('/tmp/storage-');
    service = createClusterService({
      storageFolder,
      resolvePython: async () => testPython(),
      watcher: watcherProgram,
      joined: { load: async () => undefined, save: async () => undefined, forget: async () => undefined },
    });
    await service.start();
    const found = await loadClusterRecord(storageFolder);
    assert.ok(found);
    record = found;
    service.attend('close');
  });
  after(async () => {
    await service.stop();
    service.dispose();
    await rm(storageFolder, { recursive: true, force: true });
  });

  it('is found by the tools and programs of a terminal, whose jobs are listed as what they are', async () => {
    const variables = await variablesOfTerminal();
    const env = { ...process.env, ...variables, RAY_AUTH_TOKEN: '', PYTHONDONTWRITEBYTECODE: '' };
    const script = spawn(testPython(), ['-c', SCRIPT], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    try {
      await Promise.all([
        promisify(execFile)(
          join(dirname(testPython()), 'ray'),
          ['job', 'submit', '--no-wait', '--submission-id=theirs', '--', 'sleep', '1000'],
          { env, cwd: storageFolder },
        ),
        once(script.stdout, 'data'),
      ]);
      await eventually(() => lines().some((line) => line.startsWith('sleep 1000: running')));
      assert.ok(lines().some((line) => /^sleep 1000: running for .*, submitted elsewhere$/.test(line)));
      assert.ok(lines().some((line) => /: running for .*, a script$/.test(line)));
      await eventually(() => /Ray: [1-9][\d.]* of \d+ CPU/.test(status()));
      assert.ok(lines().some((line) => / GiB$/.test(line)));
    } finally {
      script.stdin.end();
      await once(script, 'exit');
    }
    assert.equal(await service.client()?.stopJob('theirs'), true);
    await eventually(() => lines().some((line) => /^sleep 1000: stopped .*, submitted elsewhere$/.test(line)));
  });

  it('was last heard while its dashboard is stopped, and is back when that goes on', async () => {
    const pid = await processOf('dashboard/dashboard.py');
    const before = service.state();
    process.kill(pid, 'SIGSTOP');
    try {
      // The first look may have begun before.
      await eventually(async () => {
        await service.refresh();
        return /Ray: last heard \d+\ss ago/.test(status());
      });
      const state = service.state();
      assert.ok(state.kind === 'running' && state.silence);
      assert.match(state.silence.reason, /10 s/);
      assert.ok(lines().length > 1, 'what was heard is still shown');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await eventually(async () => {
      await service.refresh();
      return /CPU/.test(status());
    });
    assert.deepEqual(service.state(), before);
  });

  it('is gone when a part of it has ended, and it is said which', async () => {
    service.attend('none');
    // Beside the service, which would end what is left.
    const client = createRayClient({ url: record.dashboardUrl });
    const told: string[] = [];
    const watch = watchCluster(
      { client, record },
      {
        onSeen: () => undefined,
        onSilence: () => undefined,
        onGone: async (message) => void told.push(message),
      },
    );
    try {
      for (const [mark, part] of [
        ['dashboard/dashboard.py', 'dashboard'],
        ['/raylet ', 'node process'],
        ['gcs_server', 'head process'],
      ] as const) {
        process.kill(await processOf(mark), 'SIGKILL');
        await eventually(async () => {
          await watch.look();
          return told.at(-1) === `The Ray cluster is gone: its ${part} has ended.`;
        });
      }
    } finally {
      watch.dispose();
      await client.close();
    }
    await service.refresh();
    assert.deepEqual(service.state(), {
      kind: 'none',
      message: 'The Ray cluster is gone: its head process has ended.',
    });
    assert.deepEqual(await listClusterProcesses(record), []);
  });

  async function variablesOfTerminal(): Promise<Readonly<Record<string, string>>> {
    const state = service.state();
    assert.ok(state.kind === 'running');
    const [access, tokenFile] = await Promise.all([driverAccess(service), tokenFileOf(service)]);
    return terminalVariables({ dashboardUrl: state.dashboardUrl, access, tokenFile });
  }

  /** The tree, line by line. */
  function lines(): string[] {
    const shown = clusterLines({
      state: service.state(),
      activity: service.activity(),
      runOf: () => undefined,
      now: Date.now(),
    });
    return [...linesById(shown).values()].map(({ label, description }) => `${label}: ${description}`);
  }

  function status(): string {
    return clusterStatus(service.state(), service.activity(), Date.now()).text;
  }

  async function processOf(mark: string): Promise<number> {
    const row = (await listClusterProcesses(record)).find(({ commandLine }) => commandLine.includes(mark));
    assert.ok(row, `there is a process ${mark}`);
    return row.pid;
  }
});

async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    await wait(100);
  }
}
