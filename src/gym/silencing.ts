import type { Node } from 'web-tree-sitter';
import type { SourceRange } from '../python/syntax';

/** Which problems of a file its own comments silence. */
export type IsSilenced = (problem: { readonly code: string; readonly range: SourceRange }) => boolean;

const DIRECTIVE = /#\s*shardboard:\s*(ignore-file|ignore)(?![\w-])(?:\s*\[([^\]]*)\])?/g;

interface Directive {
  /** The line that it is for; undefined for the whole file. */
  readonly line: number | undefined;
  /** Undefined for all. */
  readonly codes: ReadonlySet<string> | undefined;
}

/**
 * Reads `# shardboard: ignore` and `# shardboard: ignore[code, code]`, for their own line or, alone on a line, for the next
 * one that is no comment, and `# shardboard: ignore-file[code]` above the first statement that is not the docstring. Comments are those of the
 * grammar: the same words in a string mean nothing.
 */
export function readSilencing(root: Node, text: string): IsSilenced {
  const lines = text.split('\n');
  const directives = text.includes('shardboard:')
    ? root.descendantsOfType('comment').flatMap((comment) => directivesOf(comment, root, lines))
    : [];
  return ({ code, range }) =>
    directives.some(
      ({ line, codes }) => (line === undefined || line === range.startLine) && (codes === undefined || codes.has(code)),
    );
}

function directivesOf(comment: Node, root: Node, lines: readonly string[]): Directive[] {
  return [...comment.text.matchAll(DIRECTIVE)].flatMap(([, kind, list]): Directive[] => {
    const codes = list === undefined ? undefined : new Set(list.split(',').map((code) => code.trim()));
    if (kind === 'ignore-file') {
      return isNearTop(comment, root) ? [{ line: undefined, codes }] : [];
    }
    return [{ line: lineMeantBy(comment, lines), codes }];
  });
}

function lineMeantBy({ startPosition: { row, column } }: Node, lines: readonly string[]): number {
  if (lines[row]?.slice(0, column).trim() !== '') {
    return row;
  }
  const further = lines.slice(row + 1).findIndex((line) => !/^[ \t\f]*#/.test(line));
  return row + 1 + Math.max(further, 0);
}

function isNearTop(comment: Node, root: Node): boolean {
  const first = root.namedChildren.find(
    (child, index) => child.type !== 'comment' && !(index === firstOf(root) && isString(child)),
  );
  return first === undefined || comment.startIndex < first.startIndex;
}

/** The index of the first child that is not a comment: only there a string is a docstring. */
function firstOf(root: Node): number {
  return root.namedChildren.findIndex((child) => child.type !== 'comment');
}

function isString(statement: Node): boolean {
  return statement.type === 'expression_statement' && statement.firstNamedChild?.type === 'string';
}
