import type { Disposable } from '../common/emitter';

/**
 * How closely somebody looks at the cluster:
 * - `close`: at its tree;
 * - `aside`: the tree is to be seen, in a window that is not worked in;
 * - `glance`: at the status bar, or a run goes on;
 * - `none`: at something else altogether.
 */
export type Attention = 'close' | 'aside' | 'glance' | 'none';

/** How closely somebody looks, by what there is to be seen. */
export function attentionOf(seen: {
  readonly isTreeVisible: boolean;
  readonly isWindowFocused: boolean;
  readonly hasRun: boolean;
}): Attention {
  if (seen.isTreeVisible) {
    return seen.isWindowFocused ? 'close' : 'aside';
  }
  return seen.isWindowFocused || seen.hasRun ? 'glance' : 'none';
}

export interface LastLook {
  /** Looks in a row, this one included, that got no answer. */
  readonly misses: number;
  readonly tookMs: number;
}

const EVERY_MS = { close: 3000, aside: 20_000, glance: 20_000 } as const;
const FIRST_RETRY_MS = 2000;
const LONGEST_RETRY_MS = { close: 15_000, aside: 60_000, glance: 60_000 } as const;

/** How long to wait between the end of a look and the next one, in ms; undefined when there need be none. */
export function pauseAfter({ misses, tookMs }: LastLook, attention: Attention): number | undefined {
  if (attention === 'none') {
    return undefined;
  }
  if (misses > 0) {
    return Math.min(FIRST_RETRY_MS * 2 ** (misses - 1), LONGEST_RETRY_MS[attention]);
  }
  // A cluster that is large, busy or far away is not asked more than a tenth of the time.
  return Math.max(EVERY_MS[attention], 10 * tookMs);
}

/** What the pacing needs of the world; tests bring their own. */
export interface Clock {
  /** Milliseconds since 1970. Goes on while the machine sleeps. */
  now(): number;
  /** Timers stand still while the machine sleeps. */
  after(ms: number, work: () => void): Disposable;
}

export const systemClock: Clock = {
  now: Date.now,
  after(ms, work) {
    const timer = setTimeout(work, ms);
    timer.unref();
    return { dispose: () => clearTimeout(timer) };
  },
};

export interface Pacing extends Disposable {
  /** More attention than before is answered with a look at once. */
  attend(attention: Attention): void;
  /** Looks at once; when a look is under way already, waits for that one. */
  lookNow(): Promise<void>;
}

/** The longest timer: how late it can be noticed that the machine has slept. */
const LONGEST_TIMER_MS = 5000;
/** A timer that comes so much later, or earlier, by the clock on the wall. */
const SLEPT_MS = 10_000;
const RANK = { none: 0, glance: 1, aside: 2, close: 3 } as const;

/**
 * Looks again and again, as often as somebody pays attention. Nobody does at first.
 *
 * @param look says whether there was a whole answer; what it throws counts as none
 */
export function createPacing(look: () => Promise<boolean>, clock: Clock = systemClock): Pacing {
  let attention: Attention = 'none';
  let last: LastLook = { misses: 0, tookMs: 0 };
  let lastEnd = clock.now();
  let timer: Disposable | undefined;
  let looking: Promise<void> | undefined;
  let isOver = false;

  /** Never two looks at once, however slow the answers are. */
  async function lookNow(): Promise<void> {
    if (isOver) {
      return;
    }
    timer?.dispose();
    looking ??= lookOnce().finally(() => {
      looking = undefined;
      wait();
    });
    await looking;
  }

  async function lookOnce(): Promise<void> {
    const begin = clock.now();
    let heard = false;
    try {
      heard = await look();
    } finally {
      lastEnd = clock.now();
      last = { misses: heard ? 0 : last.misses + 1, tookMs: Math.max(0, lastEnd - begin) };
    }
  }

  function wait(): void {
    timer?.dispose();
    const pause = pauseAfter(last, attention);
    if (isOver || looking || pause === undefined) {
      return;
    }
    const before = clock.now();
    const rest = Math.min(Math.max(0, lastEnd + pause - before), LONGEST_TIMER_MS);
    timer = clock.after(rest, () => {
      const now = clock.now();
      const slept = Math.abs(now - before - rest) > SLEPT_MS;
      if (slept) {
        // The network may take a moment to come back: misses are counted anew.
        last = { ...last, misses: 0 };
      }
      if (slept || now >= lastEnd + pause) {
        lookNow().catch(() => undefined);
      } else {
        wait();
      }
    });
  }

  return {
    attend(next) {
      const isMore = RANK[next] > RANK[attention];
      attention = next;
      if (isMore) {
        // What is under way may not have asked for all that is wanted now.
        (looking ?? Promise.resolve())
          .catch(() => undefined)
          .then(lookNow)
          .catch(() => undefined);
      } else {
        wait();
      }
    },
    lookNow,
    dispose() {
      isOver = true;
      timer?.dispose();
    },
  };
}
