/** Takes back one subscription or resource. The same shape as VS Code's Disposable, so either fits where the other is asked for. */
export interface Disposable {
  dispose(): void;
}

/** Subscribe to something that happens; the answer ends the subscription. */
export type Event<T> = (listener: (value: T) => void) => Disposable;

/** The firing side of an event, for the layers that do not know VS Code. */
export interface Emitter<T> extends Disposable {
  readonly event: Event<T>;
  fire(value: T): void;
}

/** Makes an emitter. A listener that throws does not keep the others from hearing: `onError` gets what it threw. */
export function createEmitter<T>(onError: (error: unknown) => void = reportLater): Emitter<T> {
  const listeners = new Set<(value: T) => void>();
  return {
    event(listener) {
      // A wrapper of its own, so that the same function subscribed twice is two subscriptions.
      const entry = (value: T): void => listener(value);
      listeners.add(entry);
      return { dispose: () => void listeners.delete(entry) };
    },
    fire(value) {
      for (const listener of [...listeners]) {
        try {
          listener(value);
        } catch (error) {
          onError(error);
        }
      }
    },
    dispose: () => listeners.clear(),
  };
}

function reportLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

/** Disposes many things at once, the last one first; what is added after the end is disposed at once. */
export function createDisposables(): Disposable & { add<T extends Disposable>(item: T): T } {
  const items: Disposable[] = [];
  let ended = false;
  return {
    add(item) {
      if (ended) {
        item.dispose();
      } else {
        items.push(item);
      }
      return item;
    },
    dispose() {
      ended = true;
      for (const item of items.splice(0).reverse()) {
        item.dispose();
      }
    },
  };
}
