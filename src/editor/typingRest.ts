import type { Disposable, Event } from '../common/emitter';

/** Tells when a text has not been changed for a while. */
export interface TypingRest<T extends object> extends Disposable {
  /** The text has been changed just now. */
  changed(text: T): void;
  /** Ends when the text rests or nobody waits any more; undefined when it rests already. */
  whenAtRest(text: T, cancellation: Cancellation): Promise<void> | undefined;
}

/** The part of VS Code's CancellationToken that is needed. */
export interface Cancellation {
  readonly isCancellationRequested: boolean;
  readonly onCancellationRequested: Event<unknown>;
}

/** @param restMs how long nothing may change, in ms */
export function createTypingRest<T extends object>(restMs: number): TypingRest<T> {
  /** Only texts that do not rest are in it. */
  const moving = new Map<T, { timer: NodeJS.Timeout; readonly waiting: Set<() => void> }>();

  const rest = (text: T): void => {
    const entry = moving.get(text);
    moving.delete(text);
    clearTimeout(entry?.timer);
    for (const resume of entry?.waiting ?? []) {
      resume();
    }
  };

  return {
    changed(text) {
      const known = moving.get(text);
      clearTimeout(known?.timer);
      const timer = setTimeout(() => rest(text), restMs);
      if (known) {
        known.timer = timer;
      } else {
        moving.set(text, { timer, waiting: new Set() });
      }
    },
    whenAtRest(text, cancellation) {
      const waiting = moving.get(text)?.waiting;
      if (!waiting || cancellation.isCancellationRequested) {
        return undefined;
      }
      return new Promise((resolve) => {
        const resume = (): void => {
          waiting.delete(resume);
          subscription.dispose();
          resolve();
        };
        const subscription = cancellation.onCancellationRequested(resume);
        waiting.add(resume);
      });
    },
    dispose() {
      for (const text of [...moving.keys()]) {
        rest(text);
      }
    },
  };
}
