import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attentionOf, type Clock, createPacing, type Pacing, pauseAfter } from '../../src/cluster/pacing';

interface FakeClock extends Clock {
  /** Lets time go by; each timer runs at its time, and what it started comes to its end. */
  pass(ms: number): Promise<void>;
  /** The clock on the wall goes on, and no timer does. */
  sleep(ms: number): void;
  timers(): number;
}

function fakeClock(): FakeClock {
  let wall = 1_796_000_000_000;
  let uptime = 0;
  const timers = new Set<{ at: number; work: () => void }>();
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    now: () => wall,
    after(ms, work) {
      const timer = { at: uptime + ms, work };
      timers.add(timer);
      return { dispose: () => void timers.delete(timer) };
    },
    async pass(ms) {
      const end = uptime + ms;
      for (;;) {
        await settle();
        const next = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        const until = next?.at ?? end;
        wall += until - uptime;
        uptime = until;
        if (!next) {
          return;
        }
        timers.delete(next);
        next.work();
      }
    },
    sleep(ms) {
      wall += ms;
    },
    timers: () => timers.size,
  };
}

/** Notes when it was looked, in seconds since the start. */
function watch(): { clock: FakeClock; pacing: Pacing; looks: number[]; answer: { heard: boolean } } {
  const clock = fakeClock();
  const begin = clock.now();
  const looks: number[] = [];
  const answer = { heard: true };
  const pacing = createPacing(async () => {
    looks.push((clock.now() - begin) / 1000);
    return answer.heard;
  }, clock);
  return { clock, pacing, looks, answer };
}

test('nobody looks only when the tree is hidden, the window in the background, and no run goes on', () => {
  const seen = (isTreeVisible: boolean, isWindowFocused: boolean, hasRun: boolean) =>
    attentionOf({ isTreeVisible, isWindowFocused, hasRun });
  assert.equal(seen(true, true, false), 'close');
  assert.equal(seen(true, false, true), 'aside');
  assert.equal(seen(false, true, false), 'glance');
  assert.equal(seen(false, false, true), 'glance');
  assert.equal(seen(false, false, false), 'none');
});

test('a pause is as long as nobody minds', () => {
  const heard = { misses: 0, tookMs: 10 };
  assert.equal(pauseAfter(heard, 'close'), 3000);
  assert.equal(pauseAfter(heard, 'aside'), 20_000);
  assert.equal(pauseAfter(heard, 'glance'), 20_000);
  assert.equal(pauseAfter(heard, 'none'), undefined);
  assert.equal(pauseAfter({ misses: 0, tookMs: 1000 }, 'close'), 10_000, 'a tenth of the time at most');
  const retries = (attention: 'close' | 'glance') =>
    [1, 2, 3, 4, 5, 6, 7, 100].map((misses) => pauseAfter({ misses, tookMs: 10_000 }, attention));
  assert.deepEqual(retries('close'), [2000, 4000, 8000, 15_000, 15_000, 15_000, 15_000, 15_000]);
  assert.deepEqual(retries('glance'), [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  assert.equal(pauseAfter({ misses: 3, tookMs: 10 }, 'none'), undefined);
});

test('nobody looks, nothing is asked, and no timer runs', async () => {
  const { clock, pacing, looks } = watch();
  await clock.pass(3_600_000);
  assert.deepEqual(looks, []);
  pacing.attend('glance');
  await clock.pass(50_000);
  assert.deepEqual(
    looks,
    [0, 20, 40].map((second) => second + 3600),
  );
  pacing.attend('none');
  await clock.pass(3_600_000);
  assert.equal(looks.length, 3);
  assert.equal(clock.timers(), 0);
});

test('more attention is answered at once, less of it is not', async () => {
  const { clock, pacing, looks } = watch();
  pacing.attend('glance');
  await clock.pass(7000);
  pacing.attend('close');
  await clock.pass(7000);
  pacing.attend('aside');
  await clock.pass(20_000);
  assert.deepEqual(looks, [0, 7, 10, 13, 33]);
});

test('a cluster that does not answer is asked less and less, and as before when it is back', async () => {
  const { clock, pacing, looks, answer } = watch();
  answer.heard = false;
  pacing.attend('glance');
  await clock.pass(100_000);
  assert.deepEqual(looks, [0, 2, 6, 14, 30, 62]);
  answer.heard = true;
  await clock.pass(50_000);
  assert.deepEqual(looks.slice(6), [122, 142]);
});

test('a look that fails counts as one without an answer', async () => {
  const clock = fakeClock();
  let looks = 0;
  const pacing = createPacing(() => {
    looks += 1;
    return Promise.reject(new Error('ps is missing'));
  }, clock);
  pacing.attend('glance');
  await clock.pass(7000);
  assert.equal(looks, 3);
  await assert.rejects(pacing.lookNow(), /ps is missing/);
});

test('after the machine has slept it looks at once', async () => {
  const { clock, pacing, looks, answer } = watch();
  answer.heard = false;
  pacing.attend('glance');
  await clock.pass(63_000);
  assert.equal(looks.length, 6);
  clock.sleep(3_600_000);
  await clock.pass(5000);
  assert.equal(looks.length, 7);
  // What did not answer before is asked anew from the shortest pause on.
  await clock.pass(6000);
  assert.equal(looks.length, 9);
});

test('a clock that is set back stops nothing', async () => {
  const { clock, pacing, looks } = watch();
  pacing.attend('glance');
  await clock.pass(1000);
  clock.sleep(-3_600_000);
  await clock.pass(60_000);
  assert.ok(looks.length >= 3);
});

test('never two looks at once, and none after the end', async () => {
  const clock = fakeClock();
  let looks = 0;
  let finish: (heard: boolean) => void = () => undefined;
  const pacing = createPacing(() => {
    looks += 1;
    return new Promise((resolve) => {
      finish = resolve;
    });
  }, clock);
  pacing.attend('close');
  await clock.pass(0);
  const both = Promise.all([pacing.lookNow(), pacing.lookNow()]);
  await clock.pass(60_000);
  assert.equal(looks, 1);
  finish(true);
  await both;
  pacing.dispose();
  await clock.pass(60_000);
  pacing.attend('none');
  pacing.attend('close');
  await pacing.lookNow();
  assert.equal(looks, 1);
  assert.equal(clock.timers(), 0);
});
