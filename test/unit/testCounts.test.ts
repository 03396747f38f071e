import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import countReporter from '../../scripts/lib/countReporter.mjs';
import { closingLine, parseCounts, parseJUnit, ringCounts, sumOf } from '../../scripts/lib/testCounts.mjs';

type ReportedEvent = Parameters<typeof countReporter>[0] extends AsyncIterable<infer E> ? E : never;

async function count(events: ReportedEvent[]): Promise<unknown> {
  const source = (async function* () {
    yield* events;
  })();
  let text = '';
  for await (const part of countReporter(source)) {
    text += part;
  }
  return parseCounts(text);
}

describe('the counts of a run of tests', () => {
  it('end in one plain line', () => {
    assert.equal(closingLine({ passed: 3, failed: 0, skipped: 0 }), '3 passed, 0 failed');
    assert.equal(closingLine({ passed: 3, failed: 1, skipped: 2 }), '3 passed, 1 failed, 2 skipped');
  });

  it('add up', () => {
    const one = { passed: 1, failed: 2, skipped: 3 };
    assert.deepEqual(sumOf([one, one]), { passed: 2, failed: 4, skipped: 6 });
  });

  it('never make a success of a runner that crashed, ran nothing or left no report', () => {
    const good = { passed: 2, failed: 0, skipped: 0 };
    assert.deepEqual(ringCounts(good, true), good);
    assert.equal(ringCounts(good, false).failed, 1);
    assert.equal(ringCounts(undefined, true).failed, 1);
    assert.equal(ringCounts({ passed: 0, failed: 0, skipped: 4 }, true).failed, 1);
    assert.equal(ringCounts({ passed: 1, failed: 3, skipped: 0 }, false).failed, 3);
  });

  it("come from node's events: tests, not suites, nor files that hold none", async () => {
    const counts = await count([
      { type: 'test:pass', data: { name: 'adds', details: { type: 'test' } } },
      { type: 'test:pass', data: { name: 'sums', details: { type: 'suite' } } },
      { type: 'test:pass', data: { name: 'out/test/unit/empty.test.cjs', details: {} } },
      { type: 'test:pass', data: { name: 'later', skip: true } },
      { type: 'test:fail', data: { name: 'breaks', details: { type: 'test' } } },
      { type: 'test:diagnostic', data: {} },
    ]);
    assert.deepEqual(counts, { passed: 1, failed: 1, skipped: 1 });
  });

  it("come from pytest's report", () => {
    const xml =
      '<?xml version="1.0"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10" time="0.1">';
    assert.deepEqual(parseJUnit(xml), { passed: 4, failed: 3, skipped: 3 });
    assert.throws(() => parseJUnit('<testsuite name="pytest">'), /has no "failures"/);
  });

  it('refuse a report that is not one', () => {
    assert.throws(() => parseCounts('{"passed": 1}'), /no number "failed"/);
  });
});
