import type { Node } from 'web-tree-sitter';
import { isField, type SourceRange } from '../python/syntax';
import {
  annotationOf,
  FLAG,
  type FlagStatement,
  flagBindingsIn,
  flagStatementsIn,
  plainDeclaration,
} from './flagInBody';

/** A change of a text, told by offsets in UTF-16 as it was before any change. */
export interface TextChange {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Makes a class say plainly what its flag is: changes the value of its last declaration, without the `del` that takes it
 * back, or writes one right under its first line, after the docstring. Undefined when there is no such class any more, or
 * when its body does something with the flag that another line would not overrule.
 *
 * @param name where the name of the class stands
 * @param type what a new declaration has for its type; a declaration that is there gets it too
 */
export function declareFlag(
  root: Node,
  text: string,
  name: SourceRange,
  value: boolean,
  type?: string,
): TextChange[] | undefined {
  const place = classAt(root, name);
  if (!place) {
    return undefined;
  }
  const statements = flagStatementsIn(place.body, place.classNode, text);
  const bound = statements.filter(({ kind }) => kind !== 'reads');
  const declaration = `${FLAG}${type === undefined ? '' : `: ${type}`} = ${value ? 'True' : 'False'}`;
  if (bound.some(({ kind }) => kind === 'global')) {
    return undefined;
  }
  if (bound.length === 0) {
    // What reads the name now means that of the module.
    return statements.length === 0 ? insertedDeclaration(place, text, declaration) : undefined;
  }
  const deletions = bound.slice(bound.findLastIndex(({ kind }) => kind !== 'deletes') + 1);
  const last = bound.at(-1 - deletions.length);
  const written = last?.kind === 'declares' ? plainDeclaration(last.node) : undefined;
  const change = written && changedDeclaration(written, declaration, value ? 'True' : 'False', type);
  const removals = removalsOf(deletions, text);
  if (!last || !written || !change || !removals) {
    return undefined;
  }
  const earlier = withoutEarlier(statements, last, text);
  // A type that stays would make a field of the model out of the new value too.
  const types = flagBindingsIn(place.body, place.classNode, text).filter(({ annotation }) => annotation !== undefined);
  const hasField =
    types.some(({ annotation }) => annotation === 'field') && (types.length > 1 || !written.childForFieldName('type'));
  return earlier ? [...earlier, change, ...removals] : hasField ? undefined : [change, ...removals];
}

/**
 * Keeps the last of several declarations; undefined when another one may not be run, is read, or does not have its lines
 * for itself.
 */
export function keepLastDeclaration(root: Node, text: string, name: SourceRange): TextChange[] | undefined {
  const place = classAt(root, name);
  const statements = place ? flagStatementsIn(place.body, place.classNode, text) : [];
  const last = statements.findLast(({ kind }) => kind !== 'reads');
  const changes = last?.kind === 'declares' ? withoutEarlier(statements, last, text) : undefined;
  return changes && changes.length > 0 ? changes : undefined;
}

/** Takes the annotations that make a field of the model off the declarations of the class. */
export function dropAnnotation(root: Node, text: string, name: SourceRange): TextChange[] | undefined {
  const fields = typedDeclarations(root, text, name)?.filter((one) => annotationOf(one) === 'field');
  const changes = fields?.map((assignment) => {
    const left = assignment.childForFieldName('left');
    const type = assignment.childForFieldName('type');
    return left && type && assignment.childForFieldName('right')
      ? { start: left.endIndex, end: type.endIndex, text: '' }
      : removalOf(assignment, text);
  });
  return changes && changes.length > 0 && changes.every((change) => change !== undefined) ? changes : undefined;
}

/** The declaration whose type counts: of several types Python keeps the last. Undefined when it may not be run. */
export function annotatedDeclaration(root: Node, text: string, name: SourceRange): Node | undefined {
  return typedDeclarations(root, text, name)?.at(-1);
}

/** The plain declarations of a class that have a type; undefined when it has a type somewhere else too. */
function typedDeclarations(root: Node, text: string, name: SourceRange): Node[] | undefined {
  const place = classAt(root, name);
  if (!place) {
    return undefined;
  }
  const typed = place.body.namedChildren
    .map(plainDeclaration)
    .filter((assignment) => assignment !== undefined)
    .filter((assignment) => assignment.childForFieldName('type'));
  const all = flagBindingsIn(place.body, place.classNode, text).filter(({ annotation }) => annotation !== undefined);
  return all.length === typed.length ? typed : undefined;
}

/** Applies changes that do not overlap. */
export function applyChanges(text: string, changes: readonly TextChange[]): string {
  return changes
    .toSorted((one, other) => other.start - one.start)
    .reduce((before, { start, end, text: by }) => `${before.slice(0, start)}${by}${before.slice(end)}`, text);
}

interface ClassPlace {
  readonly classNode: Node;
  readonly body: Node;
}

function classAt(root: Node, { startLine: row, startColumn: column }: SourceRange): ClassPlace | undefined {
  const name = root.descendantForPosition({ row, column });
  const classNode = name?.parent;
  const isName = name && classNode?.type === 'class_definition' && isField(name, classNode, 'name');
  const body = isName ? classNode.childForFieldName('body') : null;
  return classNode && body ? { classNode, body } : undefined;
}

function insertedDeclaration(
  { classNode, body }: ClassPlace,
  text: string,
  declaration: string,
): TextChange[] | undefined {
  const first = body.firstNamedChild;
  if (!first) {
    return undefined;
  }
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

function changedDeclaration(
  assignment: Node,
  declaration: string,
  literal: string,
  newType: string | undefined,
): TextChange | undefined {
  const right = assignment.childForFieldName('right');
  const type = assignment.childForFieldName('type');
  // In a chain, the value is that of the other names too.
  if (right?.type === 'assignment') {
    return undefined;
  }
  // With a type that makes a field of the model, the class would not get the value.
  const isOtherType = type ? annotationOf(assignment) === 'field' : newType !== undefined;
  if (isOtherType) {
    return { start: assignment.startIndex, end: (right ?? type ?? assignment).endIndex, text: declaration };
  }
  return right
    ? { start: right.startIndex, end: right.endIndex, text: literal }
    : insertion(assignment.endIndex, ` = ${literal}`);
}

/** Takes away what stands above a declaration; undefined when some of it must stay. */
function withoutEarlier(
  statements: readonly FlagStatement[],
  last: FlagStatement,
  text: string,
): TextChange[] | undefined {
  const earlier = statements.slice(0, statements.indexOf(last));
  const canGo = earlier.every(({ kind, node }) => kind === 'deletes' || (kind === 'declares' && doesNothingElse(node)));
  return canGo ? removalsOf(earlier, text) : undefined;
}

/** Whether nothing is missed when a declaration is gone: it gives no other name a value, and calls nothing. */
function doesNothingElse(statement: Node): boolean {
  const right = plainDeclaration(statement)?.childForFieldName('right');
  return right?.type !== 'assignment' && !right?.descendantsOfType(['call', 'named_expression', 'await']).length;
}

/** Undefined when one of them cannot go. */
function removalsOf(statements: readonly { readonly node: Node }[], text: string): TextChange[] | undefined {
  const removals = statements.map(({ node }) => removalOf(node, text));
  return removals.every((removal) => removal !== undefined) ? removals : undefined;
}

/** A statement goes with its lines and its comment; undefined when something else stands there. */
function removalOf(statement: Node, text: string): TextChange | undefined {
  const start = lineStart(text, statement.startIndex);
  const end = lineEnd(text, statement.endIndex);
  const rest = `${text.slice(start, statement.startIndex)}${text.slice(statement.endIndex, end)}`.trim();
  return rest === '' || rest.startsWith('#') ? { start, end: afterNewline(text, end), text: '' } : undefined;
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
