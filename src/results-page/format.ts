/** Numbers as a person reads them. One place, so that the same figure looks the same wherever it stands. */

/** Keeps a number and its unit on one line. */
const NO_BREAK = '\u00a0';

/** Stands where a number is not known or not there. */
export const NONE = '–';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** 2638 -> "2,638". */
export function formatCount(count: number): string {
  return whole.format(count);
}

/** 1 -> "1 answer", 2638 -> "2,638 answers". */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/**
 * A mean reward or a pass rate. Between 0 and 1 it is a share and reads as per cent; a benchmark may also give other
 * rewards, and those stay plain numbers.
 *
 * @param digits digits after the point of the per cent.
 */
export function formatScore(value: number, digits: number): string {
  if (value < 0 || value > 1) {
    return value.toFixed(digits + 2);
  }
  return `${(value * 100).toFixed(digits)}${NO_BREAK}%`;
}

/** A value of the bundle, with the four digits that the evaluator rounds to. */
export function formatExact(value: number): string {
  return value.toFixed(4);
}

/** Milliseconds as a clock: "0:42", "12:05", "1:02:03". Never negative: the clocks of two machines may disagree. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (part: number): string => String(part).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes}:${two(seconds % 60)}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** How long, in the largest unit that says enough: "12 s", "3 min", "5 h", "2 days". Never negative, as above. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) {
    return `${seconds}${NO_BREAK}s`;
  }
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) {
    return `${minutes}${NO_BREAK}min`;
  }
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}${NO_BREAK}h` : `${Math.floor(hours / 24)}${NO_BREAK}days`;
}

/** "12 s ago" */
export function formatAgo(ms: number): string {
  return `${formatSpan(ms)} ago`;
}

/** Milliseconds of one answer: "53 ms", "4.0 s". */
export function formatLatency(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)}${NO_BREAK}ms` : `${(ms / 1000).toFixed(1)}${NO_BREAK}s`;
}

/** Answers per second: "38 answers/s"; slow ones keep a digit: "0.4 answers/s". */
export function formatRate(perSecond: number): string {
  return `${perSecond < 10 ? perSecond.toFixed(1) : formatCount(perSecond)}${NO_BREAK}answers/s`;
}

/** "5", "2 and 5", "2, 5 and 7". */
export function formatList(items: readonly (string | number)[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}
