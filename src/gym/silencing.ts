import type { Node } from 'web-tree-sitter';
import type { SourceRange } from '../python/syntax';

/** Which problems of a file its own comments silence. */
export type IsSilenced = (problem: { readonly code: string; readonly range: SourceRange }) => boolean;

const DIRECTIVE = /#\s*shardboard:\s*(ignore-file|ignore)(?![\w-])(?:\s*\[([^\]]*)\])?/;

interface Directive {
  /** The line that it is for; undefined for the whole file. */
  readonly line: number | undefined;
  /** Undefined for all. */
  readonly codes: ReadonlySet<string> | undefined;
}

/**
 * Reads `# shardboard: ignore` and `# shardboard: ignore[code, code]`, for their own line or, alone on a line, for the next
 * one, and `# shardboard: ignore-file[code]` above the first statement that is not the docstring. Comments are those of the
 * grammar: the same words in a string mean nothing.
 */
export function readSilencing(root: Node, text: string): IsSilenced {
  const directives = text.includes('shardboard:')
    ? root.descendantsOfType('comment').flatMap((comment) => directiveOf(comment, root, text))
    : [];
  return ({ code, range }) =>
    directives.some(
      ({ line, codes }) => (line === undefined || line === range.startLine) && (codes === undefined || codes.has(code)),
    );
}

function directiveOf(comment: Node, root: Node, text: string): Directive[] {
  const match = DIRECTIVE.exec(comment.text);
  if (!match) {
    return [];
  }
  const codes = match[2] === undefined ? undefined : new Set(match[2].split(',').map((code) => code.trim()));
  if (match[1] === 'ignore-file') {
    return isNearTop(comment, root) ? [{ line: undefined, codes }] : [];
  }
  const { row, column } = comment.startPosition;
  const lineStart = comment.startIndex - column;
  const isAlone = text.slice(lineStart, comment.startIndex).trim() === '';
  return [{ line: isAlone ? row + 1 : row, codes }];
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
