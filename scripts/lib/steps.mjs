/**
 * Does one step and prints what it is, what came of it and how long it took: "Python environment … made, 14.2 s".
 *
 * @param {string} title
 * @param {() => Promise<string>} work answers what came of it, in a word or two
 * @returns {Promise<void>}
 */
export async function step(title, work) {
  process.stdout.write(`${title} … `);
  const started = performance.now();
  try {
    const outcome = await work();
    console.log(`${outcome}, ${secondsSince(started)}`);
  } catch (error) {
    console.log(`failed after ${secondsSince(started)}`);
    throw error;
  }
}

/**
 * @param {number} started a reading of `performance.now()`
 * @returns {string} for example "14.2 s"
 */
export function secondsSince(started) {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`;
}
