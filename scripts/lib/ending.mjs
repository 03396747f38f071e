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
 * Runs everything that is registered. A signal and the ordinary end may both ask for it: they share one run, otherwise
 * the process could leave while the other is still half way through.
 *
 * @returns {Promise<void>}
 */
export function endAll() {
  running ??= (async () => {
    for (const ending of [...endings].reverse()) {
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
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => void endAll().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143)));
  }
  let code = 1;
  try {
    code = await work();
  } catch (error) {
    // A SetupError is a sentence for a person; anything else is a fault of ours and needs its stack.
    const isOurs = error instanceof Error && error.name === 'SetupError';
    console.error(isOurs ? `\n${error.message}` : error);
  }
  await endAll();
  process.exit(code);
}
