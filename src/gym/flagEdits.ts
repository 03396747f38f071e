import type { Node } from 'web-tree-sitter';
import { isField, nameOf, type SourceRange } from '../python/syntax';
import { FLAG } from './flagInBody';

/** A change of a text, told by offsets in UTF-16 as it was before any change. */
export interface TextChange {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Makes a class say plainly what its flag is: changes the value of its last plain declaration, or writes one right under
 * its first line, after the docstring. Undefined when there is no such class any more, or when its body gives the flag a
 * value in a way that another line would not overrule.
 *
 * @param name where the name of the class stands
 */
export function declareFlag(root: Node, text: string, name: SourceRange, value: boolean): TextChange[] | undefined {
  const classNode = classAt(root, name);
  const body = classNode?.childForFieldName('body');
  const first = body?.firstNamedChild;
  if (!classNode || !body || !first) {
    return undefined;
  }
  const literal = value ? 'True' : 'False';
  const written = declarationsIn(body).at(-1);
  if (written) {
    return setValue(written, literal);
  }
  if (body.descendantsOfType('identifier').some((identifier) => nameOf(identifier) === FLAG)) {
    return undefined;
  }
  const declaration = `${FLAG} = ${literal}`;
  const newline = newlineOf(text);
  const isOneLine = !isFirstOnLine(first, text);
  const indent = isOneLine ? `${indentOf(classNode, text)}${indentUnit(text)}` : indentOf(first, text);
  const opening = isOneLine
    ? [{ start: gapBefore(text, first.startIndex), end: first.startIndex, text: `${newline}${indent}` }]
    : [];
  if (isDocstring(first)) {
    const after = text.slice(first.endIndex).match(/^[ \t]*;/);
    return [
      ...opening,
      after
        ? insertion(first.endIndex, `; ${declaration}`)
        : insertion(lineEnd(text, first.endIndex), `${newline}${indent}${declaration}`),
    ];
  }
  const [gap] = opening;
  return [
    gap
      ? { ...gap, text: `${gap.text}${declaration}${newline}${indent}` }
      : insertion(first.startIndex, `${declaration}${newline}${indent}`),
  ];
}

/** Keeps the last of several plain declarations that each have lines of their own; undefined when that cannot be done. */
export function keepLastDeclaration(root: Node, text: string, name: SourceRange): TextChange[] | undefined {
  const body = classAt(root, name)?.childForFieldName('body');
  const earlier = body ? declarationsIn(body).slice(0, -1) : [];
  const changes = earlier.flatMap((assignment) => {
    const start = lineStart(text, assignment.startIndex);
    const end = lineEnd(text, assignment.endIndex);
    const rest = `${text.slice(start, assignment.startIndex)}${text.slice(assignment.endIndex, end)}`.trim();
    return rest === '' || rest.startsWith('#') ? [{ start, end: afterNewline(text, end), text: '' }] : [];
  });
  return changes.length > 0 && changes.length === earlier.length ? changes : undefined;
}

/** Takes the annotation off the last plain declaration of the class. */
export function dropAnnotation(root: Node, name: SourceRange): TextChange[] | undefined {
  const assignment = annotatedDeclaration(root, name);
  const left = assignment?.childForFieldName('left');
  const type = assignment?.childForFieldName('type');
  return left && type && assignment?.childForFieldName('right')
    ? [{ start: left.endIndex, end: type.endIndex, text: '' }]
    : undefined;
}

/** The last plain declaration of the class that has a type. */
export function annotatedDeclaration(root: Node, name: SourceRange): Node | undefined {
  const body = classAt(root, name)?.childForFieldName('body');
  return body ? declarationsIn(body).findLast((one) => one.childForFieldName('type')) : undefined;
}

/** Applies changes that do not overlap. */
export function applyChanges(text: string, changes: readonly TextChange[]): string {
  return changes
    .toSorted((one, other) => other.start - one.start)
    .reduce((before, { start, end, text: by }) => `${before.slice(0, start)}${by}${before.slice(end)}`, text);
}

function classAt(root: Node, { startLine: row, startColumn: column }: SourceRange): Node | undefined {
  const name = root.descendantForPosition({ row, column });
  const parent = name?.parent;
  return name && parent?.type === 'class_definition' && isField(name, parent, 'name') ? parent : undefined;
}

/** The assignments to the plain name that stand directly in the body. */
function declarationsIn(body: Node): Node[] {
  return body.namedChildren
    .map((statement) => (statement.type === 'expression_statement' ? statement.firstNamedChild : null))
    .filter((node) => node?.type === 'assignment')
    .filter((node) => node !== null)
    .filter((assignment) => {
      const left = assignment.childForFieldName('left');
      return left?.type === 'identifier' && nameOf(left) === FLAG;
    });
}

function setValue(assignment: Node, literal: string): TextChange[] | undefined {
  const right = assignment.childForFieldName('right');
  const left = assignment.childForFieldName('left');
  const type = assignment.childForFieldName('type');
  // With a type that makes a field of the model, the class would not get the value: the type goes.
  if (left && type && right?.type !== 'assignment' && !/\b(?:ClassVar|Final)\b/.test(type.text)) {
    return [{ start: left.endIndex, end: (right ?? type).endIndex, text: ` = ${literal}` }];
  }
  if (!right) {
    return [insertion(assignment.endIndex, ` = ${literal}`)];
  }
  // In a chain, the value is that of the other names too.
  return right.type === 'assignment' ? undefined : [{ start: right.startIndex, end: right.endIndex, text: literal }];
}

function isDocstring(statement: Node): boolean {
  return statement.type === 'expression_statement' && statement.firstNamedChild?.type === 'string';
}

export const insertion = (at: number, text: string): TextChange => ({ start: at, end: at, text });

export const newlineOf = (text: string): string => (/\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n');

const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : text.charAt(end - 1) === '\r' ? end - 1 : end;
}

const afterNewline = (text: string, end: number): number =>
  end + (/^\r?\n/.exec(text.slice(end, end + 2))?.[0] ?? '').length;

const isFirstOnLine = (node: Node, text: string): boolean =>
  text.slice(lineStart(text, node.startIndex), node.startIndex).trim() === '';

const indentOf = (node: Node, text: string): string =>
  /^[ \t]*/.exec(text.slice(lineStart(text, node.startIndex), node.startIndex))?.[0] ?? '';

/** How the file indents, as far as its first indented line tells. */
const indentUnit = (text: string): string => /^(?:\t| +)(?=\S)/m.exec(text)?.[0] ?? '    ';

function gapBefore(text: string, offset: number): number {
  let start = offset;
  while (/[ \t]/.test(text.charAt(start - 1))) {
    start--;
  }
  return start;
}
