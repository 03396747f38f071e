import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dashboardOf, runningDashboards } from '../../src/cluster/discoverClusters';
import { parseProcesses } from '../../src/cluster/processes';

/** As `ps` wrote it beside Ray 2.60, shortened where nothing is read; the last three only look like a dashboard. */
const listing = `
 2369     1  2362 Sl   Tue Dec  1 05:30:35 2026 /venv/lib/python3.12/site-packages/ray/core/src/ray/gcs/gcs_server --log_dir=/tmp/wx/r/session_1/logs --gcs_server_port=21310 --node-ip-address=192.0.2.2 --session-name=session_1
 2403     1  2362 Sl   Tue Dec  1 05:30:35 2026 /venv/bin/python /venv/lib/python3.12/site-packages/ray/dashboard/dashboard.py --host=127.0.0.1 --port=21311 --port-retries=0 --temp-dir=/tmp/wx/r --log-dir=/tmp/wx/r/session_1/logs --session-dir=/tmp/wx/r/session_1 --logging-rotate-bytes=536870912 --logging-rotate-backup-count=5 --gcs-address=192.0.2.2:21310 --cluster-id-hex=28a6 --node-ip-address=192.0.2.2 --proxy-server-url= --stdout-filepath=/tmp/wx/r/session_1/logs/dashboard.out
 2662     1  2362 Sl   Tue Dec  1 05:30:36 2026 /venv/lib/python3.12/site-packages/ray/core/src/ray/raylet/raylet --gcs-address=192.0.2.2:21310 --webui=127.0.0.1:21311
 3403     1  3362 Sl   Tue Dec  1 05:31:35 2026 /other/bin/python /other/lib/python3.12/site-packages/ray/dashboard/dashboard.py --host=0.0.0.0 --port=8265 --temp-dir=/tmp/ray --gcs-address=192.0.2.2:6379
 4403     1  4362 Sl   Tue Dec  1 05:31:35 2026 /six/bin/python /six/lib/python3.12/site-packages/ray/dashboard/dashboard.py --host=2001:db8::2 --port=8266 --temp-dir=/tmp/six --gcs-address=[2001:db8::2]:6380
 5001     1  5001 S    Tue Dec  1 05:31:35 2026 vim /venv/lib/python3.12/site-packages/ray/dashboard/dashboard.py
 5002     1  5002 S    Tue Dec  1 05:31:35 2026 tail -f /tmp/ray/session_latest/logs/dashboard.log --port=1
 5003     1  5003 S    Tue Dec  1 05:31:35 2026 /venv/bin/python /venv/lib/python3.12/site-packages/ray/dashboard/dashboard.py --host=127.0.0.1
`;

test('the dashboards of running clusters are found by their command lines', () => {
  assert.deepEqual(runningDashboards(parseProcesses(listing)), [
    { url: 'http://127.0.0.1:21311', gcsAddress: '192.0.2.2:21310', folder: '/tmp/wx/r' },
    { url: 'http://127.0.0.1:8265', gcsAddress: '192.0.2.2:6379', folder: '/tmp/ray' },
    { url: 'http://[2001:db8::2]:8266', gcsAddress: '[2001:db8::2]:6380', folder: '/tmp/six' },
  ]);
});

test('the address of a GCS leads to the dashboard of its cluster, by each name of this machine', () => {
  const running = runningDashboards(parseProcesses(listing));
  const here = ['127.0.0.1', '192.0.2.2', '::1', '2001:db8::2'];
  for (const address of ['192.0.2.2:21310', '127.0.0.1:21310', 'localhost:21310', '[::1]:21310', ' 192.0.2.2:21310 ']) {
    assert.equal(dashboardOf(running, address, here), 'http://127.0.0.1:21311', address);
  }
  assert.equal(dashboardOf(running, '[2001:db8::2]:6380', here), 'http://[2001:db8::2]:8266');
  for (const address of ['192.0.2.9:21310', '192.0.2.2:21399', 'http://192.0.2.2:21310', 'auto', '', '::1', '1:2:3']) {
    assert.equal(dashboardOf(running, address, here), undefined, address);
  }
});
