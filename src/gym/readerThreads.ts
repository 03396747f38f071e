import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Disposable } from '../common/emitter';
import type { ModuleFacts } from './moduleFacts';
import type { ReadFacts } from './readFacts';

/** What a thread is started with. */
export interface ReaderSetup {
  readonly wasmFolder: string;
}

export interface ReaderRequest {
  readonly id: number;
  readonly bytes: Uint8Array;
}

export type ReaderAnswer = { readonly id: number } & ({ readonly facts: ModuleFacts } | { readonly error: string });

export interface ReaderThreads extends Disposable {
  readonly read: ReadFacts;
}

export interface ReaderThreadsOptions {
  /** The bundled program of a thread: readerWorker.ts. */
  readonly program: string;
  readonly wasmFolder: string;
}

/** More than these would be faster only for trees of tens of thousands of files, and each takes its own memory. */
const MOST_THREADS = 4;
/** Threads that have nothing to do give their memory back. */
const IDLE_MS = 10_000;

interface Waiting {
  readonly resolve: (facts: ModuleFacts) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
}

/**
 * Reads Python files in threads, so that a large workspace neither holds up the extension host nor takes one core's time
 * alone. The threads start with the first file and end when there has been nothing to read for a while.
 */
export function createReaderThreads({ program, wasmFolder }: ReaderThreadsOptions): ReaderThreads {
  const threads: Thread[] = [];
  let nextId = 0;
  let idle: NodeJS.Timeout | undefined;

  const start = (): Thread => {
    const setup: ReaderSetup = { wasmFolder };
    const worker = new Worker(program, { workerData: setup, resourceLimits: { maxYoungGenerationSizeMb: 64 } });
    const waiting = new Map<number, Waiting>();
    const thread: Thread = { worker, waiting };
    worker.on('message', (answer: ReaderAnswer) => {
      const asked = waiting.get(answer.id);
      waiting.delete(answer.id);
      if (waiting.size === 0) {
        worker.unref();
      }
      if ('facts' in answer) {
        asked?.resolve(answer.facts);
      } else {
        asked?.reject(new Error(answer.error));
      }
      endWhenIdle();
    });
    worker.on('error', (error) => end(thread, error));
    worker.on('exit', () => end(thread, new Error('The thread that reads Python files has ended.')));
    // A thread that waits for work keeps no program from ending.
    worker.unref();
    threads.push(thread);
    return thread;
  };

  const end = (thread: Thread, error: Error): void => {
    const index = threads.indexOf(thread);
    if (index >= 0) {
      threads.splice(index, 1);
    }
    for (const { reject } of thread.waiting.values()) {
      reject(error);
    }
    thread.waiting.clear();
    void thread.worker.terminate();
  };

  const endAll = (): void => {
    for (const thread of [...threads]) {
      end(thread, new Error('Reading Python files was called off.'));
    }
  };

  const endWhenIdle = (): void => {
    clearTimeout(idle);
    if (threads.every(({ waiting }) => waiting.size === 0)) {
      idle = setTimeout(endAll, IDLE_MS).unref();
    }
  };

  const leastBusy = (): Thread => {
    const [first] = [...threads].sort((one, other) => one.waiting.size - other.waiting.size);
    const isBusy = first === undefined || first.waiting.size > 0;
    return isBusy && threads.length < Math.min(availableParallelism(), MOST_THREADS) ? start() : (first ?? start());
  };

  return {
    read(bytes) {
      clearTimeout(idle);
      const thread = leastBusy();
      const id = nextId++;
      // A view may be of a much larger buffer, all of which would be copied.
      const own = bytes.slice();
      return new Promise((resolve, reject) => {
        thread.waiting.set(id, { resolve, reject });
        thread.worker.ref();
        thread.worker.postMessage({ id, bytes: own } satisfies ReaderRequest, [own.buffer]);
      });
    },
    dispose() {
      clearTimeout(idle);
      endAll();
    },
  };
}
