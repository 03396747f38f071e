import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import * as v from 'valibot';
import { createThrottle } from '../../src/common/throttle';
import { toPage } from '../../src/protocol/pageMessages';
import { fitToPage } from '../../src/views/resultsPageMessage';
import { webviewHtml } from '../../src/views/webviewHtml';
import { sampleRun, sampleRuns, sampleShard } from '../support/sampleRuns';

test('the page loads our files alone and runs no script without the nonce', () => {
  const html = webviewHtml({
    cspSource: 'https://host',
    nonce: 'abc=',
    script: 'https://host/results-page.js?a="b"',
    styles: ['https://host/results-page.css'],
    place: 'view',
  });
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
  assert.ok(
    policy.startsWith("default-src 'none'; script-src 'nonce-abc='; style-src https://host; font-src https://host;"),
  );
  assert.doesNotMatch(policy, /unsafe/);
  assert.ok(html.includes('src="https://host/results-page.js?a=&quot;b&quot;"'));
  assert.doesNotMatch(html, /style="|onload|<script(?![^>]*nonce=)/);
});

test('a message stays below 256 KB, whatever 1,000 shards have to say', () => {
  const shards = Array.from({ length: 1000 }, (_, index) =>
    sampleShard(0, 165, {
      index,
      start: 100_000 + index,
      end: 100_100 + index,
      rewardSum: 0.1 + 0.2,
      medianLatencyMs: 1234.567_890_123,
      phase: 'failed',
      message: 'Traceback '.repeat(10_000),
    }),
  );
  const categories = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`category ${index}`, { mean_reward: 0.123_456, n: 100 }]),
  );
  const run = fitToPage(sampleRun(shards, { message: 'é'.repeat(100_000), categories }));
  const size = Buffer.byteLength(JSON.stringify({ type: 'snapshot', run }));
  assert.ok(size < 256 * 1024, `${size} bytes`);
  assert.equal(v.safeParse(toPage, { type: 'snapshot', run }).success, true);
  assert.equal(run.shards[999]?.message?.endsWith('…'), true);
});

test('an ordinary run is sent as it is', () => {
  assert.deepEqual(fitToPage(sampleRuns.partial), sampleRuns.partial);
});

test('a throttle runs at once, then once for many wishes, and the last one is never lost', () => {
  // Node's mocked timers leave `performance.now` alone; here both follow one time.
  mock.timers.enable({ apis: ['setTimeout'] });
  let time = 0;
  const clock = mock.method(performance, 'now', () => time);
  const pass = (ms: number): void => {
    time += ms;
    mock.timers.tick(ms);
  };
  try {
    let runs = 0;
    const throttle = createThrottle(() => {
      runs += 1;
    }, 250);
    throttle.request();
    assert.equal(runs, 1);
    for (let i = 0; i < 10; i += 1) {
      throttle.request();
    }
    pass(249);
    assert.equal(runs, 1);
    pass(1);
    assert.equal(runs, 2);
    pass(1000);
    assert.equal(runs, 2);
    throttle.request();
    throttle.request();
    throttle.now();
    assert.equal(runs, 4);
    // What was waiting has been done with it.
    pass(1000);
    assert.equal(runs, 4);
    throttle.request();
    throttle.request();
    throttle.dispose();
    pass(1000);
    assert.equal(runs, 5);
  } finally {
    clock.mock.restore();
    mock.timers.reset();
  }
});
