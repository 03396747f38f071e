import type { Disposable } from './emitter';

/** Runs something at most every so often, and always once more after the last wish. */
export interface Throttle extends Disposable {
  /** Runs it at once when the last time is long enough ago, else as soon as it is. */
  request(): void;
  /** Runs it now, whenever the last time was. */
  now(): void;
}

/**
 * Makes a throttle.
 *
 * @param intervalMs least time between two runs that were requested, in ms.
 */
export function createThrottle(run: () => void, intervalMs: number): Throttle {
  let timer: NodeJS.Timeout | undefined;
  let lastRun = Number.NEGATIVE_INFINITY;
  const now = (): void => {
    clearTimeout(timer);
    timer = undefined;
    lastRun = performance.now();
    run();
  };
  return {
    now,
    request() {
      if (timer !== undefined) {
        return;
      }
      const wait = lastRun + intervalMs - performance.now();
      if (wait <= 0) {
        now();
      } else {
        timer = setTimeout(now, wait);
      }
    },
    dispose: () => clearTimeout(timer),
  };
}
