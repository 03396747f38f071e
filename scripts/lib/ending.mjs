import { printable } from './setupError.mjs';

/**
 * What must not outlive this process: children to end, temporary folders to remove. Run last-in first-out, once, when
 * the work ends or a signal arrives.
 *
 * @type {Set<() => void | Promise<void>>}
 */
const endings = new Set();

/** @type {Promise<void> | undefined} */
let running;

/**
 * Registers something to do at the end.
 *
 * @param {() => void | Promise<void>} ending must not throw for something that is already gone
 * @returns {() => void} takes it back, for what ended by itself
 */
export function atEnd(ending) {
  endings.add(ending);
  return () => void endings.delete(ending);
}

/**
 * @returns {boolean} whether the end has begun: nothing is worth waiting for any more
 */
export function isEnding() {
  return running !== undefined;
}

/**
 * Runs everything that is registered. A signal and the ordinary end may both ask for it: they share one run, otherwise
 * the process could leave while the other is still half way through.
 *
 * @returns {Promise<void>}
 */
export function endAll() {
  running ??= (async () => {
    // One at a time, since the work may go on and register more while these run.
    for (let ending = [...endings].pop(); ending !== undefined; ending = [...endings].pop()) {
      endings.delete(ending);
      await ending();
    }
    running = undefined;
  })();
  return running;
}

/**
 * The frame of each script: one plain message for a failure, everything cleaned up on every way out.
 *
 * @param {() => Promise<number>} work answers the exit code
 */
export async function main(work) {
  let isInterrupted = false;
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      isInterrupted = true;
      void endAll().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
    });
  }
  let code = 1;
  try {
    code = await work();
  } catch (error) {
    // What fails because its programs are being ended is no news.
    if (!isInterrupted) {
      console.error(printable(error));
    }
  }
  await endAll();
  if (!isInterrupted) {
    process.exit(code);
  }
}
