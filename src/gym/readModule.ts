import { isDeepStrictEqual } from 'node:util';
import type { Node } from 'web-tree-sitter';
import { isRefused, widthOf } from '../python/refusals';
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
  relativeOrigin,
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
  const source: Source = { text, hasError: root.hasError, isRead: 'once' };
  const collected = newCollection(source.hasError || !areIndentedAlike(root.namedChildren, 0, source));
  for (const node of root.namedChildren) {
    collect(
      readWhole(node, source, undefined, () => undefined),
      originOf(node),
      [],
      collected,
    );
  }
  return assembleModule(collected);
}

/** A statement that has been read, and, of a class, its body statement by statement. */
interface Statement {
  readonly fragment: Fragment | undefined;
  readonly openClass: OpenClass | undefined;
  /** Whether Python would refuse it, although the grammar does not. */
  readonly isRefused: boolean;
}

interface OpenClass {
  /** Where its `class` stands: a decorator comes before it. */
  readonly at: Origin;
  readonly header: Omit<ClassFragment, 'flagBindings'>;
  readonly parts: readonly Part[];
}

/** A statement, and where it begins: in the file, or as it is told from where the statement around it begins. */
interface Placed {
  readonly at: Origin;
  readonly statement: Statement;
}

/** A statement in the body of a class. */
interface Part extends Placed {
  readonly id: number | undefined;
}

/** Most statements say nothing, and then are told apart from those that do by this one alone. */
const SAYS_NOTHING: Statement = { fragment: undefined, openClass: undefined, isRefused: false };

/**
 * Statements by an id that says what has stayed. A node that is taken over from the tree before is the same as it was, but its
 * own id is where its parent keeps it, and parents are made anew. The id of its first child is where it keeps that, and so
 * stays. All this holds for as long as the tree before lives, and nothing older may be in here: freed memory is used again.
 */
type Known = ReadonlyMap<number | undefined, Statement>;

interface Source {
  readonly text: string;
  readonly hasError: boolean;
  /** Finds a statement of the same text that stood at the same place, as far as the change moved it. */
  readonly sameBefore?: (node: Node, isInClass: boolean) => Statement | undefined;
  readonly remember?: (node: Node, isInClass: boolean, statement: Statement) => void;
  /** What is read once needs no ids to be told again by. */
  readonly isRead: 'once' | 'again';
}

/** Finds the class that began at a place, as it was before. */
type ClassBefore = (at: Origin) => OpenClass | undefined;

export function createModuleReader(): ModuleReader {
  let known: Known = new Map();
  let parts: readonly Placed[] = [];
  let facts: ModuleFacts | undefined;
  let wasBroken = false;
  let before: { text: string; lines: ReadonlyMap<number, Lines> } = { text: '', lines: new Map() };
  return {
    read(root, text) {
      const next = new Map<number | undefined, Statement>();
      const hasError = root.hasError;
      const memory = hasError ? undefined : rememberLines(text, before);
      const source: Source = { text, hasError, isRead: 'again', ...memory };
      const found: Placed[] = [];
      const classBefore: ClassBefore = (at) => parts.find((part) => isSamePlace(part.at, at))?.statement.openClass;
      const nodes = root.namedChildren;
      for (const node of nodes) {
        const id = idThatStays(node, source);
        const statement = known.get(id) ?? readWhole(node, source, undefined, classBefore);
        source.remember?.(node, false, statement);
        if (id !== undefined) {
          next.set(id, statement);
        }
        if (statement !== SAYS_NOTHING) {
          found.push({ at: originOf(node), statement });
        }
      }
      known = next;
      // Most keystrokes change nothing that is told here: then nothing has to be put together again.
      const isBroken = source.hasError || !areIndentedAlike(nodes, 0, source);
      if (!facts || isBroken !== wasBroken || !areSame(parts, found)) {
        const collected = newCollection(isBroken);
        for (const { at, statement } of found) {
          collect(statement, at, [], collected);
        }
        facts = assembleModule(collected);
      }
      wasBroken = isBroken;
      parts = found;
      before = { text, lines: memory?.lines ?? new Map() };
      return facts;
    },
  };
}

/** Undefined when there is none. What the grammar could not make sense of is put together anew from old pieces. */
function idThatStays(node: Node, { text, hasError, isRead }: Source): number | undefined {
  if (isRead === 'once' || (hasError && node.isError)) {
    return undefined;
  }
  // Decorators are kept in a list of their own, which stays when what they decorate changes.
  const child = text.charAt(node.startIndex) === '@' ? node.lastChild : node.firstChild;
  return child?.id;
}

function areSame(some: readonly Placed[], others: readonly Placed[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ at, statement }, index) => {
      const other = others[index];
      return other !== undefined && isSamePlace(at, other.at) && isSame(statement, other.statement);
    })
  );
}

function isSame(one: Statement, other: Statement): boolean {
  if (one === other) {
    return true;
  }
  if (one.isRefused !== other.isRefused) {
    return false;
  }
  const [a, b] = [one.openClass, other.openClass];
  if (!a || !b) {
    return !a && !b && isDeepStrictEqual(one.fragment, other.fragment);
  }
  return isSamePlace(a.at, b.at) && isDeepStrictEqual(a.header, b.header) && areSame(a.parts, b.parts);
}

function isSamePlace(one: Origin, other: Origin): boolean {
  return one.line === other.line && one.column === other.column;
}

function readWhole(node: Node, source: Source, classNode: Node | undefined, classBefore: ClassBefore): Statement {
  const statementText = source.text.slice(node.startIndex, node.endIndex);
  const openClass = mayBeClass(statementText) ? openClassOf(node, source, classBefore) : undefined;
  if (openClass) {
    return { fragment: undefined, ...openClass };
  }
  const unchanged = source.sameBefore?.(node, classNode !== undefined);
  if (unchanged) {
    return unchanged;
  }
  const isWrong = isRefused(statementText, /^[ \t\f]*/.exec(textBefore(node, source))?.[0] ?? '');
  const fragment = readStatement(node, source.text, classNode);
  return fragment || isWrong ? { fragment, openClass: undefined, isRefused: isWrong } : SAYS_NOTHING;
}

/** What a statement says depends on its lines as a whole: on how deep it begins, and on what is left where it ends. */
interface Lines {
  readonly start: number;
  readonly end: number;
  readonly isInClass: boolean;
  readonly statement: Statement;
}

/**
 * The parser makes many statements anew that have not changed. Comparing texts is much quicker than reading them again; with
 * an error in the file the same text need not mean the same.
 */
function rememberLines(text: string, before: { readonly text: string; readonly lines: ReadonlyMap<number, Lines> }) {
  const lines = new Map<number, Lines>();
  const shift = text.length - before.text.length;
  const extent = (node: Node): [number, number] => {
    const newline = text.indexOf('\n', node.endIndex);
    return [node.startIndex - node.startPosition.column, newline < 0 ? text.length : newline];
  };
  return {
    lines,
    remember(node: Node, isInClass: boolean, statement: Statement): void {
      const [start, end] = extent(node);
      lines.set(node.startIndex, { start, end, isInClass, statement });
    },
    sameBefore(node: Node, isInClass: boolean): Statement | undefined {
      const [start, end] = extent(node);
      for (const moved of [0, shift]) {
        const found = before.lines.get(node.startIndex - moved);
        if (
          found?.isInClass === isInClass &&
          found.end - found.start === end - start &&
          before.text.slice(found.start, found.end) === text.slice(start, end)
        ) {
          return found.statement;
        }
      }
      return undefined;
    },
  };
}

function mayBeClass(text: string): boolean {
  return text.startsWith('class') || text.startsWith('@');
}

/** What stands before a node in its line. */
function textBefore(node: Node, { text }: Source): string {
  return text.slice(node.startIndex - node.startPosition.column, node.startIndex);
}

/** Statements of one block begin at one depth: the grammar does not mind. */
function areIndentedAlike(statements: readonly Node[], width: number | undefined, source: Source): boolean {
  const widths = statements
    .filter((node) => source.text.charAt(node.startIndex) !== '#')
    .map((node) => textBefore(node, source))
    // After a semicolon, or in the line of the class, a statement has no depth of its own.
    .filter((before) => before.trim() === '')
    .map(widthOf);
  return widths.every((one) => one === (width ?? widths[0]));
}

type OpenedClass = Pick<Statement, 'isRefused'> & { readonly openClass: OpenClass };

function openClassOf(node: Node, source: Source, classBefore: ClassBefore): OpenedClass | undefined {
  const definition = node.type === 'decorated_definition' ? node.childForFieldName('definition') : node;
  const origin = originOf(node);
  const header = definition?.type === 'class_definition' ? readClassHeader(definition, origin) : undefined;
  if (!definition || !header) {
    return undefined;
  }
  // A body says the same as before, statement by statement, even when the line of the class is another now.
  const before = classBefore(origin)?.parts ?? [];
  const known: Known = new Map(before.filter(({ id }) => id !== undefined).map(({ id, statement }) => [id, statement]));
  const innerBefore: ClassBefore = (at) => before.find((part) => isSamePlace(part.at, at))?.statement.openClass;
  const partOf = (part: Node, around: Node | undefined): Part => {
    const at = relativeOrigin(originOf(part), origin);
    const id = idThatStays(part, source);
    const statement = known.get(id) ?? readWhole(part, source, around, () => innerBefore(at));
    source.remember?.(part, around !== undefined, statement);
    return { id, at, statement };
  };
  const decorators = definition === node ? [] : node.namedChildren.filter(({ type }) => type === 'decorator');
  const body = partsOf(definition);
  const isEmpty = body.every((part) => source.text.charAt(part.startIndex) === '#');
  return {
    isRefused: isEmpty || !areIndentedAlike(body, undefined, source),
    openClass: {
      at: relativeOrigin(originOf(definition), origin),
      header,
      parts: [
        ...decorators.map((decorator) => partOf(decorator, undefined)),
        ...body.map((part) => partOf(part, definition)),
      ],
    },
  };
}

function newCollection(isRefused: boolean): Collected {
  return {
    isRefused,
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
function collect(statement: Statement, origin: Origin, scopes: readonly Scope[], into: Collected): void {
  const { fragment, openClass } = statement;
  into.isRefused ||= statement.isRefused;
  if (fragment) {
    collectFragment(fragment, origin, scopes, into);
  }
  if (!openClass) {
    return;
  }
  const { header, parts } = openClass;
  const origins = parts.map(({ at }) => absoluteOrigin(at, origin));
  const { line, column } = absoluteOrigin(openClass.at, origin);
  into.classes.push({
    range: { startLine: line, startColumn: column, endLine: line, endColumn: column },
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
  const inside: Scope[] = [...scopes, { kind: 'class', name: header.name, line, column }];
  for (const [index, part] of parts.entries()) {
    collect(part.statement, origins[index] ?? origin, inside, into);
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
  if (fragment.exports) {
    const { names, areAdded } = fragment.exports;
    into.exports = names && areAdded ? [...(into.exports ?? []), ...names] : names;
  }
  into.otherPyExecutable ||=
    fragment.mentionsPyExecutable && !fragment.remotes.some(({ what }) => what.pyExecutable === 'given');
}
