import assert from 'node:assert/strict';
import { test } from 'node:test';
import { terminalVariables, terminalWords } from '../../src/cluster/terminalVariables';

const dashboardUrl = 'http://127.0.0.1:8265';

test('a terminal gets both addresses, each in the variable that takes it, and the path of the token', () => {
  const tokenFile = '/tmp/cluster/token';
  const access = { gcsAddress: '192.0.2.1:6379', tokenFile };
  assert.deepEqual(terminalVariables({ dashboardUrl, access, tokenFile }), {
    RAY_API_SERVER_ADDRESS: dashboardUrl,
    RAY_ADDRESS: '192.0.2.1:6379',
    RAY_AUTH_MODE: 'token',
    RAY_AUTH_TOKEN_PATH: tokenFile,
    RAY_AUTH_TOKEN: '',
  });
  assert.match(terminalWords({ dashboardUrl, access, tokenFile }, true), /`ray job` and `ray\.init\(\)` work/);
});

test('a cluster that programs here cannot join gets no RAY_ADDRESS: ray.init refuses a URL there', () => {
  const given = { dashboardUrl, access: { reason: 'this machine is none of its nodes' }, tokenFile: undefined };
  assert.deepEqual(terminalVariables(given), { RAY_API_SERVER_ADDRESS: dashboardUrl });
  assert.match(terminalWords(given, false), /`ray\.init\(\)` cannot join it: this machine is none of its nodes\.$/);
  assert.match(terminalWords(given, true), /token of the cluster is in no file/);
});
