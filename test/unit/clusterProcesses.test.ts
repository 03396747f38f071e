import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import {
  CLUSTER_MARK,
  clusterProcesses,
  endClusterProcesses,
  listClusterProcesses,
  listProcesses,
  parseProcesses,
} from '../../src/cluster/processes';
import { isRunning, ownIdentity, processIdentity } from '../../src/cluster/processIdentity';

const owner = { processGroup: 8421, folder: '/tmp/shardboard-AbC123' };

/** As `ps` wrote it beside a real cluster, shortened. */
const listing = `
    1     0     1 Ss   Mon Nov 30 21:57:01 2026 /sbin/init
 8424     1  8421 Sl   Mon Nov 30 22:12:32 2026 /venv/ray/core/src/ray/gcs/gcs_server --log_dir=/tmp/shardboard-AbC123/r/session_1/logs
 8460     1  8421 Sl   Mon Nov 30 22:12:33 2026 /venv/bin/python /venv/ray/dashboard/dashboard.py --temp-dir=/tmp/shardboard-AbC123/r
 8511  8460  8421 Sl   Mon Nov 30 22:12:34 2026 ray-dashboard-MetricsHead-0 (/venv/bin/python -c "from multiprocessing.forkserver import main")
 8718     1  8421 Sl   Mon Nov 30 22:12:34 2026 /venv/ray/raylet/raylet --raylet_socket_name=/tmp/shardboard-AbC123/r/session_1/sockets/raylet
 8742  8718  8421 Sl   Mon Nov 30 22:12:34 2026 ray::DashboardAgent
 9001  8718  9001 SNl  Mon Nov 30 22:13:01 2026 ray::JobSupervisor
 9002  9001  9002 S    Mon Nov 30 22:13:02 2026 /bin/sh -c python driver.py
 9003  9002  9002 Sl   Mon Nov 30 22:13:02 2026 python driver.py
 8743  8718  8421 Z    Mon Nov 30 22:12:34 2026 [python] <defunct>
 7000     1  7000 Sl   Mon Nov 30 20:00:00 2026 /venv/ray/core/src/ray/gcs/gcs_server --log_dir=/tmp/ray/session_0/logs
 7001     1  7001 S    Mon Nov 30 22:14:00 2026 tail -f /tmp/shardboard-AbC123/r/session_1/logs/gcs_server.out
`;

function pids(rows: readonly { pid: number }[]): readonly number[] {
  return rows.map((row) => row.pid).sort((one, other) => one - other);
}

test('reads a listing, without those that have ended', () => {
  const rows = parseProcesses(listing);
  assert.equal(rows.length, 11);
  assert.deepEqual(rows[8], {
    pid: 9003,
    parent: 9002,
    group: 9002,
    startedAt: Date.parse('2026-11-30T22:13:02'),
    commandLine: 'python driver.py',
  });
  assert.equal(
    rows.find((row) => row.pid === 8743),
    undefined,
  );
});

test('a cluster is its group and all that descends from it, and nothing that only names it', () => {
  assert.deepEqual(
    pids(clusterProcesses(parseProcesses(listing), owner)),
    [8424, 8460, 8511, 8718, 8742, 9001, 9002, 9003],
  );
});

test('a group in which nothing names the folder belongs to somebody else', () => {
  assert.deepEqual(clusterProcesses(parseProcesses(listing), { ...owner, folder: '/tmp/shardboard-Other1' }), []);
  assert.deepEqual(clusterProcesses(parseProcesses(listing), { ...owner, folder: '/tmp/shardboard-AbC' }), []);
});

test('what outlives its parent is still known, and an id that was used again is not', () => {
  const known = parseProcesses(listing).filter((row) => row.pid === 9001 || row.pid === 8742);
  const later = parseProcesses(`
 9001     1  9001 SNl  Mon Nov 30 22:13:02 2026 ray::IDLE
 9100  9001  9100 S    Mon Nov 30 22:15:00 2026 /bin/sh -c anything
 8742     1  8742 S    Mon Nov 30 22:20:00 2026 vim
`);
  assert.deepEqual(pids(clusterProcesses(later, owner, known)), [9001, 9100]);
});

test('ends a group with what descends from it, also what does not listen, and leaves the rest', async (t) => {
  const folder = `/tmp/none-${process.pid}`;
  // The second shell leaves the group and ignores SIGTERM, as Ray's workers and servers do.
  const script = `trap '' TERM; set -m; (trap '' TERM; echo ready; sleep 1000) & wait; : ${folder}/`;
  const ours = spawn('bash', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const other = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
  t.after(() => other.kill('SIGKILL'));
  await once(ours.stdout, 'data');
  assert.ok(ours.pid && other.pid);
  const leader = await processIdentity(ours.pid);
  assert.ok(leader);
  const owner = { processGroup: ours.pid, leader, folder };
  const before = await listClusterProcesses(owner);
  assert.ok(before.some((row) => row.group !== ours.pid));

  await endClusterProcesses(owner, 50);

  const left = pids(await listProcesses());
  assert.deepEqual(
    before.filter((row) => left.includes(row.pid)),
    [],
  );
  assert.ok(left.includes(other.pid));
});

/** A process as one of a cluster: leader of its group, with the cluster's folder in its command line. */
async function startNamed(t: TestContext, folder: string): Promise<{ pid: number; leader: string }> {
  const script = `echo ready; sleep 1000 & wait; : ${folder}/`;
  const child = spawn('bash', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  const { pid } = child;
  const leader = pid && (await processIdentity(pid));
  assert.ok(pid && leader);
  t.after(() => endClusterProcesses({ processGroup: pid, leader, folder }, 0));
  return { pid, leader };
}

test('a group whose number has gone to another process is left alone, whatever it names', async (t) => {
  const folder = `/tmp/none-${process.pid}`;
  const { pid, leader } = await startNamed(t, folder);
  const [boot = '', number, start] = leader.split(' ');
  assert.equal((await listClusterProcesses({ processGroup: pid, leader, folder })).length, 2);

  const sameNumber = { processGroup: pid, leader: `${boot} ${number} ${Number(start) - 1}`, folder };
  assert.deepEqual(await listClusterProcesses(sameNumber), []);
  const beforeRestart = { processGroup: pid, leader: `${'0'.repeat(boot.length)} ${number} ${start}`, folder };
  assert.deepEqual(await listClusterProcesses(beforeRestart), []);
});

test('what a job has put into the background for good is known by its mark', async (t) => {
  const folder = `/tmp/none-${process.pid}`;
  const { pid, leader } = await startNamed(t, folder);
  const start = (mark: string) =>
    spawn('sleep', ['1000'], { detached: true, stdio: 'ignore', env: { ...process.env, [CLUSTER_MARK]: mark } });
  const [away, stranger] = [start(folder), start(`${folder}0`)];
  t.after(() => stranger.kill('SIGKILL'));
  await Promise.all([once(away, 'spawn'), once(stranger, 'spawn')]);
  const found = pids(await listClusterProcesses({ processGroup: pid, leader, folder }));
  assert.ok(away.pid && found.includes(away.pid));
  assert.ok(stranger.pid && !found.includes(stranger.pid));
});

test('an identity is of one process and no other', async () => {
  const mine = await ownIdentity();
  assert.equal(await processIdentity(process.pid), mine);
  assert.equal(await isRunning(mine), true);
  assert.equal(await isRunning(`${mine}0`), false);
  assert.equal(await isRunning(''), false);
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const identity = await processIdentity(child.pid ?? 0);
  assert.ok(identity && (await isRunning(identity)));
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(await isRunning(identity), false);
});
