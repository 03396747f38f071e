import type { Node } from 'web-tree-sitter';

/** A stretch of source as VS Code counts it: lines from 0, columns in UTF-16 code units from 0, the end not included. */
export interface SourceRange {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** Where a node stands. The library counts in UTF-16 code units already, because it is given JavaScript strings. */
export function rangeOf(node: Node): SourceRange {
  const { startPosition: start, endPosition: end } = node;
  return { startLine: start.row, startColumn: start.column, endLine: end.row, endColumn: end.column };
}

/** A name as Python compares it: identifiers are the same when their NFKC forms are. */
export function nameOf(identifier: Node): string {
  return identifier.text.normalize('NFKC');
}

/** `a.b.c` for a plain name or a chain of attributes of one; undefined for every other expression. */
export function dottedNameOf(node: Node): string | undefined {
  switch (node.type) {
    case 'identifier':
      return nameOf(node);
    case 'dotted_name':
      return node.namedChildren
        .filter((child) => child.type === 'identifier')
        .map(nameOf)
        .join('.');
    case 'attribute': {
      const object = node.childForFieldName('object');
      const attribute = node.childForFieldName('attribute');
      const before = object ? dottedNameOf(object) : undefined;
      return before !== undefined && attribute ? `${before}.${nameOf(attribute)}` : undefined;
    }
    default:
      return undefined;
  }
}

/** The expression inside any number of parentheses, which mean nothing to Python. */
export function withoutParentheses(node: Node): Node {
  let inner = node;
  while (inner.type === 'parenthesized_expression') {
    const only = inner.namedChildren.find((child) => !child.isExtra);
    if (!only) {
      return inner;
    }
    inner = only;
  }
  return inner;
}

/**
 * Whether the node goes on after the end of a line that ends it in Python: outside brackets, without a backslash.
 *
 * The grammar does not see line ends where a statement cannot end. Of `flag =` with `x = True` below it, or `flag = True.`,
 * it makes one assignment without an error: while somebody types, that would show a value that nobody wrote.
 */
export function crossesLineEnd(node: Node): boolean {
  if (node.startPosition.row === node.endPosition.row) {
    return false;
  }
  let depth = 0;
  let previous: Node | undefined;
  for (const child of node.children) {
    const isOnNewLine = previous !== undefined && child.startPosition.row > previous.endPosition.row;
    if (depth === 0 && (isOnNewLine || crossesLineEnd(child))) {
      return true;
    }
    depth += BRACKETS[child.type] ?? 0;
    previous = child;
  }
  return false;
}

const BRACKETS: Readonly<Record<string, number>> = { '(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1 };

/** Whether the node stands in that field of its parent. */
export function isField(node: Node, parent: Node, field: string): boolean {
  return parent.childForFieldName(field)?.id === node.id;
}

/**
 * What the imports of a file call things: local name to full name. `import a.b` gives `a` to `a`,
 * `from a import b as c` gives `c` to `a.b`. Imports anywhere in the file count, whatever scope or condition they are in.
 */
export function importedNames(root: Node): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const statement of root.descendantsOfType(['import_statement', 'import_from_statement'])) {
    const from = statement.childForFieldName('module_name');
    const module = from ? (dottedNameOf(from) ?? from.text) : undefined;
    for (const item of statement.childrenForFieldName('name')) {
      const alias = item.childForFieldName('alias');
      const target = dottedNameOf(item.childForFieldName('name') ?? item);
      if (target === undefined) {
        continue;
      }
      const fullName = module === undefined ? target : `${module}.${target}`;
      if (alias) {
        names.set(nameOf(alias), fullName);
      } else if (module === undefined) {
        const first = firstSegment(target);
        names.set(first, first);
      } else {
        names.set(target, fullName);
      }
    }
  }
  return names;
}

/** A dotted name as written, with its first part replaced by what the file's imports say it is. */
export function fullNameOf(dottedName: string, imports: ReadonlyMap<string, string>): string {
  const first = firstSegment(dottedName);
  return `${imports.get(first) ?? first}${dottedName.slice(first.length)}`;
}

function firstSegment(dottedName: string): string {
  const dot = dottedName.indexOf('.');
  return dot < 0 ? dottedName : dottedName.slice(0, dot);
}
