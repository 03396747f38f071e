import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { driverEvent, parseDriverLine } from '../../src/protocol/driverEvents';
import { projectRoot } from '../support/projectRoot';

test('the lines that the driver writes are read, each kind of them', () => {
  // The driver's own tests check that it writes exactly this file.
  const lines = readFileSync(join(projectRoot, 'driver/tests/event_lines.txt'), 'utf8').trimEnd().split('\n');
  const events = lines.map((line) => {
    const event = parseDriverLine(line);
    assert(event && !(event instanceof Error), `${line}\n${event}`);
    return event;
  });
  const kinds = driverEvent.options.map((option) => option.entries.type.literal);
  assert.deepEqual(new Set(events.map(({ type }) => type)), new Set(kinds));
});
