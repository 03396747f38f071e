import type { Node } from 'web-tree-sitter';
import { rangeOf, type SourceRange } from '../python/syntax';
import { assembleModule, type Collected } from './assembleModule';
import { FLAG, type FlagBinding, otherAt } from './flagInBody';
import {
  absolute,
  absoluteOrigin,
  type ClassFragment,
  type FoundInStatement,
  type Fragment,
  type Origin,
  originOf,
  relativeTo,
  type Scope,
} from './fragments';
import type { ModuleFacts } from './moduleFacts';
import { partsOf, readClassHeader, readStatement } from './readStatement';

/** Reads a text again and again while it changes, each time only the statements that are not as they were. */
export interface ModuleReader {
  /** @param root the root of the tree of exactly this text; the tree read before must still live */
  read(root: Node, text: string): ModuleFacts;
}

/** Reads the facts of one module once. */
export function readModule(root: Node, text: string): ModuleFacts {
  return createModuleReader().read(root, text);
}

/** A statement that has been read, and, of a class, its body statement by statement. */
interface Statement {
  readonly fragment: Fragment | undefined;
  readonly openClass: OpenClass | undefined;
}

interface OpenClass {
  readonly range: SourceRange;
  readonly header: Omit<ClassFragment, 'flagBindings'>;
  readonly parts: readonly Part[];
}

/** A statement in another one: its place is told from where that begins. */
interface Part {
  readonly id: number;
  readonly isInClass: boolean;
  readonly at: SourceRange;
  readonly statement: Statement;
}

/**
 * The tree says what has stayed: a node that is taken over from the tree before keeps its id. What a statement says depends
 * on whether it stands in a class, so that the two kinds are kept apart: a body stays when its `class` becomes an `if`.
 */
interface Known {
  readonly inModule: Map<number, Statement>;
  readonly inClass: Map<number, Statement>;
}

export function createModuleReader(): ModuleReader {
  let known: Known = { inModule: new Map(), inClass: new Map() };
  return {
    read(root, text) {
      const next: Known = { inModule: new Map(), inClass: new Map() };
      const collected = newCollection();
      for (const node of root.namedChildren) {
        if (node.type !== 'comment') {
          collect(statementOf(node, text, undefined, known, next), originOf(node), [], collected);
        }
      }
      known = next;
      return assembleModule(collected, !root.hasError);
    },
  };
}

function statementOf(node: Node, text: string, classNode: Node | undefined, known: Known, next: Known): Statement {
  const [before, after] = classNode ? [known.inClass, next.inClass] : [known.inModule, next.inModule];
  const unchanged = before.get(node.id);
  const statement = unchanged ?? readWhole(node, text, classNode, known, next);
  after.set(node.id, statement);
  if (unchanged?.openClass) {
    keepParts(unchanged.openClass, next);
  }
  return statement;
}

/** What is in a class that has not changed is still known when the next change is in it. */
function keepParts({ parts }: OpenClass, next: Known): void {
  for (const { id, isInClass, statement } of parts) {
    (isInClass ? next.inClass : next.inModule).set(id, statement);
    if (statement.openClass) {
      keepParts(statement.openClass, next);
    }
  }
}

function readWhole(node: Node, text: string, classNode: Node | undefined, known: Known, next: Known): Statement {
  const definition = node.type === 'decorated_definition' ? node.childForFieldName('definition') : node;
  const origin = originOf(node);
  const header = definition?.type === 'class_definition' ? readClassHeader(definition, origin) : undefined;
  if (!definition || !header) {
    const fragment = readStatement(node, text.slice(node.startIndex, node.endIndex), classNode);
    return { fragment, openClass: undefined };
  }
  const decorators = node.namedChildren.filter(({ type }) => type === 'decorator');
  const partOf = (part: Node, around: Node | undefined): Part => ({
    id: part.id,
    isInClass: around !== undefined,
    at: relativeTo(rangeOf(part), origin),
    statement: statementOf(part, text, around, known, next),
  });
  return {
    fragment: undefined,
    openClass: {
      range: relativeTo(rangeOf(definition), origin),
      header,
      parts: [
        ...decorators.map((decorator) => partOf(decorator, undefined)),
        ...partsOf(definition)
          .filter(({ type }) => type !== 'comment')
          .map((part) => partOf(part, definition)),
      ],
    },
  };
}

function newCollection(): Collected {
  return {
    classes: [],
    imports: [],
    calls: [],
    settings: [],
    remotes: [],
    names: [],
    exports: undefined,
    otherPyExecutable: false,
  };
}

/** Adds what a statement says to what the file says, with places and scopes as the file has them. */
function collect({ fragment, openClass }: Statement, origin: Origin, scopes: readonly Scope[], into: Collected): void {
  if (fragment) {
    collectFragment(fragment, origin, scopes, into);
  }
  if (!openClass) {
    return;
  }
  const { header, parts } = openClass;
  const origins = parts.map(({ at }) => absoluteOrigin({ line: at.startLine, column: at.startColumn }, origin));
  into.classes.push({
    range: absolute(openClass.range, origin),
    around: { scopes, isPlain: true, conditional: false, inTry: false, typeCheckingOnly: false, guard: undefined },
    what: {
      ...header,
      nameRange: absolute(header.nameRange, origin),
      flagBindings: parts.flatMap(({ statement }, index) =>
        bindingsOf(statement).map((binding) => ({
          ...binding,
          range: absolute(binding.range, origins[index] ?? origin),
        })),
      ),
    },
  });
  const { startLine: line, startColumn: column } = absolute(openClass.range, origin);
  const inside: Scope[] = [...scopes, { kind: 'class', name: header.name, line, column }];
  for (const [index, { statement }] of parts.entries()) {
    collect(statement, origins[index] ?? origin, inside, into);
  }
}

function bindingsOf({ fragment, openClass }: Statement): readonly FlagBinding[] {
  // A class of that name in the body is what the flag then is.
  return openClass?.header.name === FLAG ? [otherAt(openClass.header.nameRange)] : (fragment?.flagBindings ?? []);
}

function collectFragment(fragment: Fragment, origin: Origin, scopes: readonly Scope[], into: Collected): void {
  const put = <T>(item: FoundInStatement<T>): FoundInStatement<T> => ({
    what: item.what,
    range: absolute(item.range, origin),
    around: {
      ...item.around,
      scopes: [...scopes, ...item.around.scopes.map((scope) => ({ ...scope, ...absoluteOrigin(scope, origin) }))],
    },
  });
  for (const { what, ...place } of fragment.classes) {
    const nameRange = absolute(what.nameRange, origin);
    const flagBindings = what.flagBindings.map((binding) => ({ ...binding, range: absolute(binding.range, origin) }));
    into.classes.push({ ...put({ what, ...place }), what: { ...what, nameRange, flagBindings } });
  }
  into.imports.push(...fragment.imports.map(put));
  into.calls.push(...fragment.calls.map(put));
  into.settings.push(...fragment.settings.map(put));
  into.remotes.push(...fragment.remotes.map(put));
  into.names.push(...fragment.names.map(put));
  into.exports = fragment.exports ?? into.exports;
  into.otherPyExecutable ||=
    fragment.mentionsPyExecutable && !fragment.remotes.some(({ what }) => what.pyExecutable === 'given');
}
