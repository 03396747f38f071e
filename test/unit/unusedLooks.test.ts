import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countUnused, type UseLook } from '../../src/cluster/unusedLooks';

const PAUSE_MS = 15_000;
const unused = { hasWindow: false, isKept: false, isUsed: false };

/** The count after looks that come at the usual times; a number is how long there was none, in milliseconds. */
function countAfter(looks: readonly (Omit<UseLook, 'at'> | number)[]): number {
  let at = 1_796_000_000_000;
  let counted = { count: 0, at };
  for (const look of looks) {
    if (typeof look === 'number') {
      at += look;
    } else {
      at += PAUSE_MS;
      counted = countUnused(counted, { ...look, at }, PAUSE_MS);
    }
  }
  return counted.count;
}

test('looks in a row that find nobody are counted', () => {
  assert.equal(countAfter([unused, unused, unused]), 3);
});

for (const [what, look] of [
  ['a window', { ...unused, hasWindow: true }],
  ['a job', { ...unused, isUsed: true }],
  ['a Ray that does not answer', { ...unused, isUsed: undefined }],
  ['the wish to keep it', { ...unused, isKept: true }],
] as const) {
  test(`${what} lets the count begin anew`, () => {
    assert.equal(countAfter([unused, unused, look]), 0);
    assert.equal(countAfter([unused, unused, look, unused]), 1);
  });
}

test('an hour of sleep counts as no look at all, and what was counted before it is forgotten', () => {
  assert.equal(countAfter([unused, unused, 3_600_000, unused]), 1);
});

test('a busy machine that looks late still counts', () => {
  assert.equal(countAfter([unused, PAUSE_MS, unused]), 2);
});

test('a clock that was set back forgets nothing', () => {
  assert.equal(countAfter([unused, -3_600_000, unused]), 2);
});
