import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserError } from '../../src/common/userError';
import { isReadableOnTheWay, normaliseAddress } from '../../src/ray/address';

const good: readonly [typed: string, address: string][] = [
  ['localhost:8265', 'http://localhost:8265'],
  [' localhost ', 'http://localhost:8265'],
  ['localhost:80', 'http://localhost'],
  ['192.0.2.7', 'http://192.0.2.7:8265'],
  ['[::1]:8265', 'http://[::1]:8265'],
  ['http://127.0.0.1:8265/', 'http://127.0.0.1:8265'],
  ['http://127.0.0.1:8265/#/jobs', 'http://127.0.0.1:8265'],
  ['https://ray.example.com/teams/one/', 'https://ray.example.com/teams/one'],
  ['ray.example.com/teams/one', 'http://ray.example.com/teams/one'],
  ['HTTP://Host:8265', 'http://host:8265'],
  ['::1', 'http://[::1]:8265'],
  ['2001:db8::7', 'http://[2001:db8::7]:8265'],
  ['http://[2001:db8::7]:9000/#/overview', 'http://[2001:db8::7]:9000'],
  ['localhost:9000/#/jobs/raysubmit_1', 'http://localhost:9000'],
  ['localhost/#/jobs', 'http://localhost:8265'],
  ['https://ray.example.com/teams/one/#/cluster', 'https://ray.example.com/teams/one'],
  ['http://0.0.0.0:8265', 'http://127.0.0.1:8265'],
  ['0.0.0.0', 'http://127.0.0.1:8265'],
  ['http://127.0.0.1:8265/api/version', 'http://127.0.0.1:8265'],
  ['https://k8s.example.com/api/v1/proxy/api/jobs/', 'https://k8s.example.com/api/v1/proxy'],
];
for (const [typed, address] of good) {
  test(`"${typed}" is ${address}`, () => assert.equal(normaliseAddress(typed), address));
}

for (const typed of ['ray://head.example.com:10001', 'head.example.com:6379', 'http://head.example.com:10001']) {
  test(`"${typed}" is another port of Ray, and the right one is offered`, () => {
    assert.throws(
      () => normaliseAddress(typed),
      (error: unknown) => {
        assert.ok(error instanceof UserError);
        assert.match(error.message, /Jobs API.*8265/);
        assert.deepEqual(error.actions[0]?.args, ['http://head.example.com:8265']);
        return true;
      },
    );
  });
}

test('an IPv6 address keeps its brackets in what is offered', () => {
  assert.throws(
    () => normaliseAddress('[2001:db8::7]:6379'),
    (error: unknown) => error instanceof UserError && error.actions[0]?.args?.[0] === 'http://[2001:db8::7]:8265',
  );
});

test('only plain HTTP that leaves the machine can be read on the way', () => {
  for (const url of [
    'http://127.0.0.1:8265',
    'http://localhost',
    'http://[::1]:1',
    'http://127.1.2.3',
    'https://a.b',
  ]) {
    assert.equal(isReadableOnTheWay(url), false, url);
  }
  for (const url of ['http://192.0.2.7:8265', 'http://localhost.example.com', 'http://127.0.0.1.example.com']) {
    assert.equal(isReadableOnTheWay(url), true, url);
  }
});

const bad: readonly [typed: string, text: RegExp][] = [
  ['', /Type the address/],
  ['redis://host:1', /starts with redis:/],
  ['auto', /Join Ray Cluster/],
  ['fe80::1%eth0', /is not an address/],
  ['localhost:99999', /is not an address/],
  ['two words', /is not an address/],
  ['http://me:secret@host:8265', /Use a token/],
];
for (const [typed, text] of bad) {
  test(`"${typed}" is refused`, () => {
    assert.throws(
      () => normaliseAddress(typed),
      (error: unknown) => {
        assert.ok(error instanceof UserError);
        assert.match(error.message, text);
        assert.ok(!error.message.includes('secret'));
        return true;
      },
    );
  });
}
