import { Edit } from 'web-tree-sitter';

/**
 * Equal stretches are skipped in pieces of these lengths: comparing pieces is much quicker than comparing letters, and the
 * smaller ones find the place in the last of the larger ones.
 */
const PIECES = [65_536, 4_096, 256, 16];

/**
 * The one change that makes one text of another, as a syntax tree is told of it. It is found in the texts themselves: an
 * editor's own account of its changes has to be complete and in order, and one that got lost would spoil the tree for good.
 *
 * Undefined when the texts are the same.
 */
export function editBetween(before: string, after: string): Edit | undefined {
  if (before === after) {
    return undefined;
  }
  const most = Math.min(before.length, after.length);
  let start = 0;
  for (const piece of PIECES) {
    while (start + piece <= most && before.slice(start, start + piece) === after.slice(start, start + piece)) {
      start += piece;
    }
  }
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) {
    start++;
  }
  let end = 0;
  const rest = most - start;
  const isSameBefore = (piece: number): boolean =>
    before.slice(before.length - end - piece, before.length - end) ===
    after.slice(after.length - end - piece, after.length - end);
  for (const piece of PIECES) {
    while (end + piece <= rest && isSameBefore(piece)) {
      end += piece;
    }
  }
  while (end < rest && before.charCodeAt(before.length - end - 1) === after.charCodeAt(after.length - end - 1)) {
    end++;
  }
  const startPosition = positionAfter(before, 0, start, { row: 0, column: 0 });
  return new Edit({
    startIndex: start,
    oldEndIndex: before.length - end,
    newEndIndex: after.length - end,
    startPosition,
    oldEndPosition: positionAfter(before, start, before.length - end, startPosition),
    newEndPosition: positionAfter(after, start, after.length - end, startPosition),
  });
}

interface Position {
  readonly row: number;
  readonly column: number;
}

/** Where a stretch of text ends that begins at a position. */
function positionAfter(text: string, start: number, end: number, from: Position): Position {
  let row = from.row;
  let lineStart = start - from.column;
  for (let index = text.indexOf('\n', start); index >= 0 && index < end; index = text.indexOf('\n', index + 1)) {
    row++;
    lineStart = index + 1;
  }
  return { row, column: end - lineStart };
}
