import { type DriverEvent, EVENT_MARKER, parseDriverLine } from '../protocol/driverEvents';

/** What is new in a job's log. */
export interface LogNews {
  readonly events: readonly DriverEvent[];
  /** Lines that carry the marker and cannot be read: a driver of another version, or a damaged log. */
  readonly faults: readonly Error[];
  /** What was taken before is not in the log any more: it was cut, or begun anew. */
  readonly isCut: boolean;
}

/**
 * A job's log as far as it was heard. It may be told whole, again and again, and in pieces: what was taken once is not taken
 * again, and of the lines that are meant for the extension nothing is kept.
 */
export interface DriverLog {
  /** Takes the whole log, as it is now. */
  takeWhole(log: string): LogNews;
  /** Takes a piece that begins so many characters after the log's beginning, at most where the last one ended. */
  takePiece(at: number, text: string): LogNews;
  /** How many characters were taken. */
  length(): number;
  /** The log as a person reads it; of a very long one the end. */
  readable(): string;
}

/** Of a log that is chatty beyond this, in characters, the beginning is dropped: it would only fill the memory. */
const LONGEST_READABLE = 1024 * 1024;
/** By so many characters before the place that was reached, a log that was begun anew is told from one that grew. */
const MARK = 256;

const NO_NEWS: LogNews = { events: [], faults: [], isCut: false };

export function createDriverLog(): DriverLog {
  let taken = 0;
  /** The last characters that were taken. */
  let mark = '';
  /** A line that is still being written. */
  let open = '';
  let readable = '';
  let isShortened = false;

  function take(text: string): LogNews {
    if (text === '') {
      return NO_NEWS;
    }
    taken += text.length;
    mark = (mark + text.slice(-MARK)).slice(-MARK);
    const end = text.lastIndexOf('\n') + 1;
    if (end === 0) {
      open += text;
      return NO_NEWS;
    }
    const lines = (open + text.slice(0, end - 1)).split('\n');
    open = text.slice(end);
    const events: DriverEvent[] = [];
    const faults: Error[] = [];
    for (const line of lines) {
      const parsed = parseDriverLine(line);
      if (parsed instanceof Error) {
        faults.push(parsed);
      } else if (parsed) {
        events.push(parsed);
      } else {
        keep(line);
      }
    }
    return { events, faults, isCut: false };
  }

  function keep(line: string): void {
    readable += `${line}\n`;
    if (readable.length > 2 * LONGEST_READABLE) {
      readable = readable.slice(readable.indexOf('\n', readable.length - LONGEST_READABLE) + 1);
      isShortened = true;
    }
  }

  return {
    takeWhole(log) {
      const isCut = log.length < taken || log.slice(taken - mark.length, taken) !== mark;
      if (isCut) {
        keep(`${open}\n… The log was cut on the cluster. What follows is what it holds now.`);
        taken = 0;
        mark = '';
        open = '';
      }
      const news = take(log.slice(taken));
      return isCut ? { ...news, isCut } : news;
    },
    takePiece: (at, text) => take(text.slice(Math.max(0, taken - at))),
    length: () => taken,
    readable() {
      const start = isShortened ? '… The lines before these are left out; Ray has the whole log.\n' : '';
      return start + readable + (open.includes(EVENT_MARKER) ? '' : open);
    },
  };
}
