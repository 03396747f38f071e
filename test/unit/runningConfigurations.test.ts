import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchForReady } from '../../src/gym/runningConfigurations';

const SENTENCE = 'INFO started\nAll 12 / 12 servers ready! Polling every 60s\n';

test('hears the sentence that all servers are ready wherever it is cut', () => {
  for (let cut = 0; cut <= SENTENCE.length; cut += 1) {
    const isReady = watchForReady();
    const first = isReady(SENTENCE.slice(0, cut));
    assert.equal(first || isReady(SENTENCE.slice(cut)), true, `cut at ${cut}`);
  }
});

test('does not take some of them for all', () => {
  const isReady = watchForReady();
  assert.equal(isReady('1 / 2 servers ready. Waiting for servers to spin up: ["a"]\n'), false);
});
