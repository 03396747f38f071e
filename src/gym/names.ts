import type { Collected } from './assembleModule';
import type { FoundInStatement, Scope } from './fragments';
import type { ClassReference, NameBinding } from './moduleFacts';

/** Where a name is used. */
export interface Place {
  /** The scopes around it, the outermost first. */
  readonly scopes: readonly Scope[];
  readonly line: number;
  /** Whether it is looked up when a function is called, and so may mean what is bound below it. */
  readonly isLate?: boolean;
}

export interface Resolved {
  readonly reference: ClassReference;
  /** Whether it leads to what it means through another name. */
  readonly throughAlias: boolean;
}

/** What the names of one file mean. */
export interface Names {
  /** The meaning of a dotted name at a place, by Python's rules of scope, as far as this file tells. */
  resolve(dottedName: string, place: Place): Resolved;
  /** What names mean at the top level, each in the order of the file; what functions bind is among it, as local. */
  readonly bindings: ReadonlyMap<string, readonly NameBinding[]>;
}

/** A binding with the function that it is in; '' at the top level. */
interface ScopedBinding {
  readonly scope: string;
  readonly binding: NameBinding;
}

/** Longer chains of names that stand for names are cycles. */
const MOST_ALIASES = 10;

export function createNames(found: Collected): Names {
  const classes = new Map<string, number[]>();
  const bindings = new Map<string, ScopedBinding[]>();

  const bind = (name: string, scopes: readonly Scope[], binding: NameBinding): void => {
    append(bindings, name, { scope: functionKey(scopes), binding });
  };
  for (const [index, { what, around, range }] of found.classes.entries()) {
    append(classes, `${functionKey(around.scopes)} ${[...classPath(around.scopes), what.name].join('.')}`, index);
    if (around.scopes.at(-1)?.kind !== 'class') {
      bind(what.name, around.scopes, { ...circumstances(around, range.startLine), kind: 'class', index });
    }
  }
  for (const { what, around, range } of found.imports) {
    const where = circumstances(around, range.startLine);
    const { module, level } = what;
    if (!what.isFrom) {
      const [first = module] = module.split('.');
      const meaning = { kind: 'import', module: what.alias ? module : first, level, name: undefined } as const;
      bind(what.alias ?? first, around.scopes, { ...where, ...meaning });
    }
    for (const { name, alias } of what.names) {
      if (name !== '*') {
        bind(alias ?? name, around.scopes, { ...where, kind: 'import', module, level, name });
      }
    }
  }
  for (const { what, around, range } of found.names) {
    const where = circumstances(around, range.startLine);
    bind(
      what.name,
      around.scopes,
      what.alias === undefined ? { ...where, kind: 'other' } : { ...where, kind: 'alias', target: what.alias },
    );
  }
  for (const list of bindings.values()) {
    list.sort((one, other) => one.binding.line - other.binding.line);
  }

  const resolve = (dottedName: string, place: Place, aliases = 0): Resolved => {
    const inClass = classInClass(dottedName, place);
    if (inClass !== undefined) {
      return { reference: { kind: 'class', index: inClass }, throughAlias: aliases > 0 };
    }
    const [first = dottedName, ...rest] = dottedName.split('.');
    for (const scope of functionsAround(place.scopes)) {
      const candidates = (bindings.get(first) ?? []).filter((candidate) => candidate.scope === scope);
      const meanings = inForce(
        candidates.map(({ binding }) => binding),
        place,
      );
      if (meanings.length > 0) {
        const chosen = choose(
          meanings.map((binding) => meaningOf(binding, rest, scope, aliases)),
          meanings,
        );
        return scope === '' ? unlessFromStar(dottedName, chosen, meanings, place) : chosen;
      }
    }
    return { reference: { kind: 'name', name: dottedName }, throughAlias: aliases > 0 };
  };

  const starLines = found.imports
    .filter(({ what, around }) => around.scopes.length === 0 && what.names.some(({ name }) => name === '*'))
    .map(({ range }) => range.startLine);
  /** What a star import brings takes the place of what stands above it. */
  const unlessFromStar = (
    name: string,
    { reference, throughAlias }: Resolved,
    meanings: readonly NameBinding[],
    { line, isLate }: Place,
  ): Resolved => {
    const after = Math.max(...meanings.map((meaning) => meaning.line));
    const isShadowed = starLines.some((star) => star > after && (isLate || star < line));
    return { reference: isShadowed ? { kind: 'star_or', name, after, otherwise: reference } : reference, throughAlias };
  };

  /** In the body of a class its own names come first: `class B(A)` beside `class A`, both in another class. */
  const classInClass = (dottedName: string, { scopes, line }: Place): number | undefined => {
    const path = scopes.at(-1)?.kind === 'class' ? classPath(scopes) : [];
    const key = `${functionKey(scopes)} ${[...path, dottedName].join('.')}`;
    return path.length === 0 ? undefined : classes.get(key)?.findLast((index) => lineOf(index) < line);
  };
  const lineOf = (index: number): number => found.classes[index]?.range.startLine ?? 0;

  const meaningOf = (binding: NameBinding, rest: readonly string[], scope: string, aliases: number): Resolved => {
    const throughAlias = aliases > 0;
    switch (binding.kind) {
      case 'class': {
        const name = found.classes[binding.index]?.what.name ?? '';
        const index = rest.length === 0 ? binding.index : classes.get(`${scope} ${[name, ...rest].join('.')}`)?.at(-1);
        return { reference: index === undefined ? unknown([name, ...rest]) : { kind: 'class', index }, throughAlias };
      }
      case 'import': {
        const path = binding.name === undefined ? rest : [binding.name, ...rest];
        return { reference: { kind: 'import', module: binding.module, level: binding.level, path }, throughAlias };
      }
      case 'alias': {
        const target = [binding.target, ...rest].join('.');
        if (aliases > MOST_ALIASES) {
          return { reference: unknown([target]), throughAlias: true };
        }
        return resolve(target, { scopes: [], line: binding.line }, aliases + 1);
      }
      case 'other':
        return { reference: unknown(rest), throughAlias };
    }
  };

  return {
    resolve,
    bindings: new Map([...bindings].map(([name, list]) => [name, list.map(({ binding }) => binding)])),
  };
}

/**
 * The bindings of a name that can hold at a place: the last that is surely executed, and those under a condition after it.
 * What only a type checker reads counts when there is nothing else.
 */
function inForce(all: readonly NameBinding[], { line, isLate }: Place): NameBinding[] {
  const executed = all.filter(({ typeCheckingOnly }) => !typeCheckingOnly);
  const earlier = isLate ? executed : executed.filter((binding) => binding.line < line);
  const usable: readonly NameBinding[] = earlier.length > 0 ? earlier : executed.length > 0 ? executed : all;
  return sinceLastCertain(usable);
}

/** The conditional bindings after the last that is surely executed, in their order, and that one at last. */
export function sinceLastCertain(bindings: readonly NameBinding[]): NameBinding[] {
  const last = bindings.findLastIndex(({ conditional }) => !conditional);
  return last < 0 ? [...bindings] : [...bindings.slice(last + 1), ...bindings.slice(last, last + 1)];
}

/** Whether a `try` is all that decides which of them holds. */
export function areInTry(bindings: readonly NameBinding[]): boolean {
  return bindings.every(({ conditional, inTry }) => inTry || !conditional);
}

function choose(resolved: readonly Resolved[], meanings: readonly NameBinding[]): Resolved {
  const [only] = resolved;
  if (only && resolved.length === 1) {
    return only;
  }
  return {
    reference: {
      kind: 'either',
      inTry: areInTry(meanings),
      choices: resolved.map(({ reference }) => reference),
    },
    throughAlias: resolved.some(({ throughAlias }) => throughAlias),
  };
}

function unknown(parts: readonly string[]): ClassReference {
  return { kind: 'unknown', text: parts.join('.') };
}

function circumstances(
  { conditional, inTry, typeCheckingOnly, scopes }: FoundInStatement<unknown>['around'],
  line: number,
): Pick<NameBinding, 'line' | 'conditional' | 'inTry' | 'typeCheckingOnly' | 'local'> {
  return { line, conditional, inTry, typeCheckingOnly, local: scopes.length > 0 };
}

/** The innermost function's place; '' in none. */
function functionKey(scopes: readonly Scope[]): string {
  const innermost = scopes.findLast(({ kind }) => kind === 'function');
  return innermost ? `${innermost.line}:${innermost.column}` : '';
}

/** The functions around, the innermost first, and the module at last. */
function functionsAround(scopes: readonly Scope[]): string[] {
  const functions = scopes.filter(({ kind }) => kind === 'function').map(({ line, column }) => `${line}:${column}`);
  return [...functions.reverse(), ''];
}

/** The classes between the innermost function and the place. */
function classPath(scopes: readonly Scope[]): string[] {
  return scopes.slice(scopes.findLastIndex(({ kind }) => kind === 'function') + 1).map(({ name }) => name);
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) {
    list.push(value);
  } else {
    map.set(key, [value]);
  }
}
