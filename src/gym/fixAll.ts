import { type PythonParser, withTree } from '../python/parser';
import type { SourceRange } from '../python/syntax';
import { changesFor, hasOneSafeFix } from './fixProblem';
import { applyChanges } from './flagEdits';
import type { GymProblem } from './problems';

/** The text after everything is mended for which there is one safe way. @param problems those of exactly this text */
export async function fixAll(parser: PythonParser, text: string, problems: readonly GymProblem[]): Promise<string> {
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  let fixed = text;
  // From the end to the beginning: what is above stays where it is, but for imports, which come at the top.
  const waiting = problems
    .filter(hasOneSafeFix)
    .map((problem) => ({
      problem,
      offset: (lineStarts[problem.subject.startLine] ?? text.length) + problem.subject.startColumn,
    }))
    .sort((one, other) => other.offset - one.offset);
  for (const [index, { problem, offset }] of waiting.entries()) {
    const [fix] = problem.fixes;
    const subject = moved(problem.subject, offset, fixed);
    const before = fixed;
    const changes = fix && (await withTree(parser, before, (root) => changesFor(fix, subject, root, before)));
    if (changes) {
      fixed = applyChanges(before, changes);
      for (const later of waiting.slice(index + 1)) {
        later.offset += changes
          .filter(({ start }) => start <= later.offset)
          .reduce((sum, change) => sum + change.text.length - (change.end - change.start), 0);
      }
    }
  }
  return fixed;
}

/** A place where it is now: it keeps its length, and its end its line when it has only one. */
function moved(subject: SourceRange, offset: number, text: string): SourceRange {
  const before = text.slice(0, offset);
  const startLine = before.split('\n').length - 1;
  const startColumn = offset - (before.lastIndexOf('\n') + 1);
  const lines = subject.endLine - subject.startLine;
  return {
    startLine,
    startColumn,
    endLine: startLine + lines,
    endColumn: lines === 0 ? startColumn + subject.endColumn - subject.startColumn : subject.endColumn,
  };
}
