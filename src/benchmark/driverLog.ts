import { type DriverEvent, EVENT_MARKER, parseDriverLine } from '../protocol/driverEvents';

/** What is new in a job's log. */
export interface LogNews {
  readonly events: readonly DriverEvent[];
  /** Lines that carry the marker and cannot be read: a driver of another version, or a damaged log. */
  readonly faults: readonly Error[];
}

/**
 * Reads a job's log that is fetched whole, again and again: each call gives what the last one had not yet given.
 * A log that became shorter was begun anew and is read from its start; events may be applied twice without harm.
 */
export function createDriverLogReader(): (log: string) => LogNews {
  let read = 0;
  return (log) => {
    if (log.length < read) {
      read = 0;
    }
    // A line that is still being written waits for its end.
    const end = log.lastIndexOf('\n') + 1;
    const lines = end > read ? log.slice(read, end).split('\n') : [];
    read = Math.max(read, end);
    const events: DriverEvent[] = [];
    const faults: Error[] = [];
    for (const line of lines) {
      const parsed = parseDriverLine(line);
      if (parsed instanceof Error) {
        faults.push(parsed);
      } else if (parsed) {
        events.push(parsed);
      }
    }
    return { events, faults };
  };
}

/** The log as a person reads it: without the lines that are meant for the extension. */
export function readableLog(log: string): string {
  return log
    .split('\n')
    .filter((line) => !line.includes(EVENT_MARKER))
    .join('\n');
}
