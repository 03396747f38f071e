/**
 * A reporter for `node --test` that writes only the counts, as JSON. It counts the way Node does: every test, not the
 * suites around them.
 *
 * @param {AsyncIterable<{ type: string, data: { name?: string, skip?: unknown, todo?: unknown, details?: { type?: string } } }>} events
 */
export default async function* countReporter(events) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for await (const { type, data } of events) {
    // A file that holds no test is reported as a test of its own name that passed.
    const isTest = data?.details?.type !== 'suite' && !(type === 'test:pass' && data?.name?.endsWith('.test.cjs'));
    if (type === 'test:pass' && isTest) {
      counts[data.skip === undefined && data.todo === undefined ? 'passed' : 'skipped'] += 1;
    } else if (type === 'test:fail' && isTest) {
      counts[data.todo === undefined ? 'failed' : 'skipped'] += 1;
    }
  }
  yield JSON.stringify(counts);
}
