/**
 * A reporter for `node --test` that writes only the counts, as JSON. It counts the way Node does: every test, not the
 * suites around them.
 *
 * @param {AsyncIterable<{ type: string, data: { name?: string, skip?: unknown, todo?: unknown, details?: { type?: string } } }>} events
 */
export default async function* countReporter(events) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for await (const { type, data } of events) {
    if (data?.details?.type === 'suite') {
      continue;
    }
    if (type === 'test:fail' && data.todo === undefined) {
      counts.failed += 1;
    } else if (type === 'test:pass' && (data.skip !== undefined || data.todo !== undefined)) {
      counts.skipped += 1;
      // A file that holds no test is reported as a test of that name that passed; it must not count.
    } else if (type === 'test:pass' && !data.name?.endsWith('.test.cjs')) {
      counts.passed += 1;
    }
  }
  yield JSON.stringify(counts);
}
