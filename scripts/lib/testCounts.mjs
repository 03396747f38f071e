/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 */

/**
 * @param {readonly Counts[]} all
 * @returns {Counts}
 */
export function sumOf(all) {
  return all.reduce(
    (sum, counts) => ({
      passed: sum.passed + counts.passed,
      failed: sum.failed + counts.failed,
      skipped: sum.skipped + counts.skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );
}

/**
 * The line that ends a run of tests: "41 passed, 0 failed", and how many were skipped when any were.
 *
 * @param {Counts} counts
 * @returns {string}
 */
export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`;
}

/**
 * What a ring comes to, from the runner's own report and from how its process ended. A runner that fails with no failed
 * test in its report (it crashed, or left something behind) counts as one failure, and so does one that ran nothing:
 * neither may look like a success.
 *
 * @param {Counts | undefined} reported none when the runner wrote no report
 * @param {boolean} endedWell
 * @returns {Counts}
 */
export function ringCounts(reported, endedWell) {
  const counts = reported ?? { passed: 0, failed: 0, skipped: 0 };
  const isSound = endedWell && counts.passed + counts.failed > 0;
  return isSound || counts.failed > 0 ? counts : { ...counts, failed: 1 };
}

/**
 * @param {string} text what `countReporter.mjs` or test/host/index.ts wrote
 * @returns {Counts}
 */
export function parseCounts(text) {
  const value = JSON.parse(text);
  const count = (/** @type {string} */ name) => {
    if (!Number.isInteger(value[name])) {
      throw new Error(`The test report has no number "${name}".`);
    }
    return value[name];
  };
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

/**
 * The counts in pytest's `--junitxml` report.
 *
 * @param {string} xml
 * @returns {Counts}
 */
export function parseJUnit(xml) {
  const suite = /<testsuite\b[^>]*>/.exec(xml)?.[0] ?? '';
  const count = (/** @type {string} */ name) => {
    const digits = new RegExp(`\\b${name}="(\\d+)"`).exec(suite)?.[1];
    if (digits === undefined) {
      throw new Error(`The pytest report has no "${name}".`);
    }
    return Number(digits);
  };
  const failed = count('failures') + count('errors');
  const skipped = count('skipped');
  return { passed: count('tests') - failed - skipped, failed, skipped };
}
