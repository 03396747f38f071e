import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserError } from '../../src/common/userError';
import { normaliseAddress } from '../../src/ray/address';

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

const bad: readonly [typed: string, text: RegExp][] = [
  ['', /Type the address/],
  ['redis://host:1', /starts with redis:/],
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
