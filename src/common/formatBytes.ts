const UNITS = ['B', 'kB', 'MB', 'GB'];

/** Bytes as a person reads them: "812 B", "1.4 MB", "101 MB". A megabyte is 1024 times 1024 bytes, as in Ray's limits. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}
