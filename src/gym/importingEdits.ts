import type { Node } from 'web-tree-sitter';
import { dottedNameOf, nameOf, type SourceRange } from '../python/syntax';
import { annotatedDeclaration, declareFlag, insertion, newlineOf, type TextChange } from './flagEdits';

/** Makes the annotated flag of a class a class variable, which pydantic leaves alone; imports `ClassVar` when it must. */
export function annotateClassVar(root: Node, text: string, name: SourceRange): TextChange[] | undefined {
  const type = annotatedDeclaration(root, text, name)?.childForFieldName('type');
  const classVar = type ? reach(CLASS_VAR, root, text, type.startIndex) : undefined;
  if (!type || !classVar) {
    return undefined;
  }
  // In quotes, the whole annotation is one string.
  const inner = type.text.replace(/^(["'])(.*)\1$/s, '$2');
  return [...classVar.imports, { start: type.startIndex, end: type.endIndex, text: `${classVar.name}[${inner}]` }];
}

/** Declares the flag as a class variable, in a class where a plain value would be that of a field of the model. */
export function declareClassVar(root: Node, text: string, name: SourceRange, value: boolean): TextChange[] | undefined {
  const place = root.descendantForPosition({ row: name.startLine, column: name.startColumn });
  const classVar = place ? reach(CLASS_VAR, root, text, place.startIndex) : undefined;
  const changes = classVar && declareFlag(root, text, name, value, `${classVar.name}[bool]`);
  return changes && [...classVar.imports, ...changes];
}

/**
 * Gives something remote this server's own Python: adds it to a literal runtime_env, or writes one; imports `sys` when it
 * must. Undefined when nothing remote stands there any more.
 */
export function givePyExecutable(root: Node, text: string, at: SourceRange): TextChange[] | undefined {
  const start = { row: at.startLine, column: at.startColumn };
  const end = { row: at.endLine, column: at.endColumn };
  const node = root.descendantForPosition(start, end);
  const executable = node ? reach(EXECUTABLE, root, text, node.startIndex) : undefined;
  const given = `"py_executable": ${executable?.name}`;
  const change =
    node?.type === 'decorator' ? ofDecorator(node, given) : node?.type === 'call' ? ofCall(node, given) : undefined;
  return executable && change && [...executable.imports, change];
}

function ofDecorator(decorator: Node, given: string): TextChange {
  return insertion(decorator.endIndex, `(runtime_env={${given}})`);
}

function ofCall(call: Node, pair: string): TextChange | undefined {
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
      ? insertion(environment.startIndex + 1, isEmpty ? pair : `${pair}, `)
      : undefined;
  }
  const last = given.at(-1);
  return last
    ? insertion(last.endIndex, `, runtime_env={${pair}}`)
    : list
      ? insertion(list.startIndex + 1, `runtime_env={${pair}}`)
      : undefined;
}

/** Something of Python's own that a fix needs. */
interface Needed {
  readonly modules: readonly string[];
  readonly name: string;
  /** The line that brings it, what that line binds, and what it is called then. */
  readonly line: string;
  readonly binds: string;
  readonly called: string;
}

const CLASS_VAR: Needed = {
  modules: ['typing', 'typing_extensions'],
  name: 'ClassVar',
  line: 'from typing import ClassVar',
  binds: 'ClassVar',
  called: 'ClassVar',
};

const EXECUTABLE: Needed = {
  modules: ['sys'],
  name: 'executable',
  line: 'import sys',
  binds: 'sys',
  called: 'sys.executable',
};

/**
 * What something is called at a place, with the import that this takes. Only what surely runs above the place counts: an
 * import below it, under a condition or for type checking does not. Undefined when its name means something else there.
 */
function reach(
  needed: Needed,
  root: Node,
  text: string,
  before: number,
): { readonly name: string; readonly imports: TextChange[] } | undefined {
  const bound = new Map<string, string>();
  for (const statement of root.namedChildren.filter(({ endIndex }) => endIndex <= before)) {
    for (const [local, fullName] of namesBoundBy(statement)) {
      bound.set(local, fullName);
    }
  }
  for (const [local, fullName] of bound) {
    if (needed.modules.some((module) => fullName === `${module}.${needed.name}`)) {
      return { name: local, imports: [] };
    }
    if (needed.modules.includes(fullName)) {
      return { name: `${local}.${needed.name}`, imports: [] };
    }
  }
  return bound.has(needed.binds)
    ? undefined
    : { name: needed.called, imports: [importAbove(root, text, needed.line, before)] };
}

/** What a statement of the module binds, each name with what it stands for; '' for what is no import. */
function namesBoundBy(statement: Node): [string, string][] {
  const inner = statement.type === 'expression_statement' ? statement.firstNamedChild : statement;
  const definition = inner?.type === 'decorated_definition' ? inner.childForFieldName('definition') : inner;
  switch (definition?.type) {
    case 'import_statement':
    case 'import_from_statement': {
      const from = definition.childForFieldName('module_name');
      const module = from && (dottedNameOf(from) ?? from.text);
      return definition.childrenForFieldName('name').flatMap((item): [string, string][] => {
        const alias = item.childForFieldName('alias');
        const name = dottedNameOf(item.childForFieldName('name') ?? item) ?? '';
        const [first = name] = name.split('.');
        if (module) {
          return [[alias ? nameOf(alias) : name, `${module}.${name}`]];
        }
        return [alias ? [nameOf(alias), name] : [first, first]];
      });
    }
    case 'class_definition':
    case 'function_definition': {
      const name = definition.childForFieldName('name');
      return name ? [[nameOf(name), '']] : [];
    }
    case 'assignment': {
      const left = definition.childForFieldName('left');
      return left?.type === 'identifier' ? [[nameOf(left), '']] : [];
    }
    default:
      return [];
  }
}

/** A line with an import among those at the top, above the place that needs it. */
function importAbove(root: Node, text: string, line: string, before: number): TextChange {
  const statements = root.namedChildren.filter(({ type, startIndex }) => type !== 'comment' && startIndex <= before);
  const newline = newlineOf(text);
  const [first] = statements;
  const hasDocstring = first?.type === 'expression_statement' && first.firstNamedChild?.type === 'string';
  const body = statements.slice(hasDocstring ? 1 : 0).filter(({ type }) => type !== 'future_import_statement');
  const below = body.find(({ type }) => /^import(?:_from)?_statement$/.test(type)) ?? body[0];
  return insertion(below?.startIndex ?? 0, `${line}${newline}`);
}
