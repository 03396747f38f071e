import type { Node } from 'web-tree-sitter';
import type { SourceRange } from '../python/syntax';
import { annotatedDeclaration, insertion, newlineOf, type TextChange } from './flagEdits';

/** Makes the annotated flag of a class a class variable, which pydantic leaves alone; imports `ClassVar` when it must. */
export function annotateClassVar(root: Node, text: string, name: SourceRange): TextChange[] | undefined {
  const type = annotatedDeclaration(root, text, name)?.childForFieldName('type');
  if (!type) {
    return undefined;
  }
  // In quotes, the whole annotation is one string.
  const inner = type.text.replace(/^(["'])(.*)\1$/s, '$2');
  return [
    ...importOf(root, text, 'from typing import ClassVar', /\bClassVar\b/),
    { start: type.startIndex, end: type.endIndex, text: `ClassVar[${inner}]` },
  ];
}

const GIVEN = '"py_executable": sys.executable';

/**
 * Gives something remote this server's own Python: adds it to a literal runtime_env, or writes one; imports `sys` when it
 * must. Undefined when nothing remote stands there any more.
 */
export function givePyExecutable(root: Node, text: string, at: SourceRange): TextChange[] | undefined {
  const start = { row: at.startLine, column: at.startColumn };
  const end = { row: at.endLine, column: at.endColumn };
  const node = root.descendantForPosition(start, end);
  const change = node?.type === 'decorator' ? ofDecorator(node) : node?.type === 'call' ? ofCall(node) : undefined;
  return change && [...importOf(root, text, 'import sys', /^import (?:.*, *)?sys\b(?! *\.)/m), change];
}

function ofDecorator(decorator: Node): TextChange {
  return insertion(decorator.endIndex, `(runtime_env={${GIVEN}})`);
}

function ofCall(call: Node): TextChange | undefined {
  const list = call.childForFieldName('arguments');
  const given = list?.namedChildren.filter(({ isExtra }) => !isExtra) ?? [];
  // Ray takes options or something to make remote, never both.
  if (given.some(({ type }) => type !== 'keyword_argument')) {
    return undefined;
  }
  const environment = given
    .find(({ type, firstNamedChild }) => type === 'keyword_argument' && firstNamedChild?.text === 'runtime_env')
    ?.childForFieldName('value');
  if (environment) {
    const isEmpty = environment.namedChildCount === 0;
    return environment.type === 'dictionary'
      ? insertion(environment.startIndex + 1, isEmpty ? GIVEN : `${GIVEN}, `)
      : undefined;
  }
  const last = given.at(-1);
  return last
    ? insertion(last.endIndex, `, runtime_env={${GIVEN}}`)
    : list
      ? insertion(list.startIndex + 1, `runtime_env={${GIVEN}}`)
      : undefined;
}

/** A line with an import, below those at the top; nothing when the file has it. */
function importOf(root: Node, text: string, line: string, isThere: RegExp): TextChange[] {
  const statements = root.namedChildren.filter(({ type }) => type !== 'comment');
  const imports = statements.filter(({ type }) => /^(?:import|import_from|future_import)_statement$/.test(type));
  if (imports.some((statement) => isThere.test(statement.text))) {
    return [];
  }
  const newline = newlineOf(text);
  const future = imports.findLast(({ type }) => type === 'future_import_statement');
  const [first] = statements;
  const isDocstring = first?.type === 'expression_statement' && first.firstNamedChild?.type === 'string';
  const below = imports.find(({ type }) => type !== 'future_import_statement') ?? (isDocstring ? undefined : first);
  if (below) {
    return [insertion(below.startIndex, `${line}${newline}`)];
  }
  const above = future ?? first;
  return above ? [insertion(above.endIndex, `${newline}${newline}${line}`)] : [insertion(0, `${line}${newline}`)];
}
