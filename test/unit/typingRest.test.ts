import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { createEmitter } from '../../src/common/emitter';
import { type Cancellation, createTypingRest } from '../../src/editor/typingRest';

const REST_MS = 1_000;
const text = { name: 'a text' };
const never: Cancellation = { isCancellationRequested: false, onCancellationRequested: createEmitter<void>().event };

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

/** Whether a promise has ended, once what waits for it has had its turn. */
async function hasEnded(promise: Promise<void> | undefined): Promise<boolean> {
  assert.ok(promise);
  let ended = false;
  void promise.then(() => {
    ended = true;
  });
  await Promise.resolve();
  await Promise.resolve();
  return ended;
}

test('a text that nobody has changed rests, and so does each other one', () => {
  const rest = createTypingRest<object>(REST_MS);
  assert.equal(rest.whenAtRest(text, never), undefined);
  rest.changed(text);
  assert.equal(rest.whenAtRest({}, never), undefined);
});

test('each change begins the wait anew; then all who wait go on', async () => {
  const rest = createTypingRest<object>(REST_MS);
  rest.changed(text);
  const waits = [rest.whenAtRest(text, never), rest.whenAtRest(text, never)];
  mock.timers.tick(REST_MS - 1);
  rest.changed(text);
  mock.timers.tick(REST_MS - 1);
  assert.deepEqual(await Promise.all(waits.map(hasEnded)), [false, false]);
  mock.timers.tick(1);
  assert.deepEqual(await Promise.all(waits.map(hasEnded)), [true, true]);
  assert.equal(rest.whenAtRest(text, never), undefined);
});

test('who does not want to wait any more does not; the others do', async () => {
  const rest = createTypingRest<object>(REST_MS);
  const cancelled = createEmitter<void>();
  rest.changed(text);
  const one = rest.whenAtRest(text, { isCancellationRequested: false, onCancellationRequested: cancelled.event });
  const other = rest.whenAtRest(text, never);
  cancelled.fire();
  assert.deepEqual([await hasEnded(one), await hasEnded(other)], [true, false]);
  assert.equal(rest.whenAtRest(text, { ...never, isCancellationRequested: true }), undefined);
});

test('nobody waits for what is gone', async () => {
  const rest = createTypingRest<object>(REST_MS);
  rest.changed(text);
  const wait = rest.whenAtRest(text, never);
  rest.dispose();
  assert.equal(await hasEnded(wait), true);
});
