import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { clusterProcesses, endClusterProcesses, listProcesses, parseProcesses } from '../../src/cluster/processes';

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
  const before = clusterProcesses(await listProcesses(), { processGroup: ours.pid, folder });
  assert.ok(before.some((row) => row.group !== ours.pid));

  await endClusterProcesses({ processGroup: ours.pid, folder }, 50);

  const left = pids(await listProcesses());
  assert.deepEqual(
    before.filter((row) => left.includes(row.pid)),
    [],
  );
  assert.ok(left.includes(other.pid));
});
