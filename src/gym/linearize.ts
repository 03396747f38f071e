import type { FollowReference, FoundClass } from './followReference';
import type { ClassReference } from './moduleFacts';
import { isSame, nameOfReference } from './references';
import { carriesTheFlag } from './wellKnownBases';

/**
 * One class in the order in which Python looks for an attribute:
 * - `gym_base`: a class of nemo_gym before the one that carries the flag;
 * - `gym_flag`: the class of nemo_gym that carries it, as None;
 * - `unresolved`: a base that cannot be looked at, which may have any value and any bases.
 */
export type OrderEntry = { readonly key: string } & (
  | { readonly kind: 'class'; readonly found: FoundClass }
  | { readonly kind: 'gym_base' }
  | { readonly kind: 'gym_flag' }
  | { readonly kind: 'unresolved'; readonly what: string }
);

const GYM_FLAG: OrderEntry = { key: 'gym_flag', kind: 'gym_flag' };

/**
 * Python's method resolution order of a class, itself first. What is known to say nothing is left out.
 *
 * Source of the rule: "The Python 2.3 Method Resolution Order" (C3), which still holds. Where it finds no order, Python
 * refuses the class: the rest is then one unresolved entry.
 */
export function linearize(own: FoundClass, follow: FollowReference): OrderEntry[] {
  return orderOf(own, follow, new Set());
}

function orderOf(own: FoundClass, follow: FollowReference, above: ReadonlySet<string>): OrderEntry[] {
  const self: OrderEntry = { key: `${own.file}\n${own.index}`, kind: 'class', found: own };
  // Imports can lead in a circle; Python would not get as far as this class.
  if (above.has(self.key)) {
    return [unresolved('a circle of bases')];
  }
  const orders = basesOf(own).map((base) => orderOfBase(own, base, follow, new Set([...above, self.key])));
  const merged = merge([...orders, orders.flatMap(([first]) => (first ? [first] : []))].filter(isNotEmpty));
  return [self, ...(merged ?? [unresolved('bases in an order that Python refuses')])];
}

function basesOf({ facts, index }: FoundClass): readonly ClassReference[] {
  return facts.classes[index]?.bases ?? [];
}

function orderOfBase(
  from: FoundClass,
  base: ClassReference,
  follow: FollowReference,
  above: ReadonlySet<string>,
): OrderEntry[] {
  const found = follow(from, base);
  switch (found) {
    case 'harmless':
      return [];
    case 'gym_base': {
      const key = `gym_base ${nameOfReference(base)}`;
      return carriesTheFlag(base) ? [GYM_FLAG] : [{ key, kind: 'gym_base' }, GYM_FLAG];
    }
    case 'unresolved':
      return [unresolved(nameOfReference(base))];
    default:
      return orderOf(found, follow, above);
  }
}

function unresolved(what: string): OrderEntry {
  return { key: `unresolved ${what}`, kind: 'unresolved', what };
}

/** Takes again and again the first head that is in no other list's tail; undefined when there is none left to take. */
function merge(lists: readonly (readonly OrderEntry[])[]): OrderEntry[] | undefined {
  const merged: OrderEntry[] = [];
  let rest = lists;
  while (rest.length > 0) {
    const head = rest
      .map(([first]) => first)
      .find((first) => !rest.some((list) => list.findIndex(({ key }) => key === first?.key) > 0));
    if (!head) {
      return undefined;
    }
    merged.push(head);
    rest = rest.map((list) => (list[0]?.key === head.key ? list.slice(1) : list)).filter(isNotEmpty);
  }
  return merged;
}

function isNotEmpty(list: readonly OrderEntry[]): boolean {
  return list.length > 0;
}

/**
 * Whether an entry comes first whatever an unresolved base turns out to be. Such a base may itself come from a class that
 * stands before it here, and would then be asked before it: only Python's rule that bases keep the order they are written in
 * is certain.
 */
export function isCertain(own: FoundClass, entry: OrderEntry, follow: FollowReference): boolean {
  if (entry.kind === 'class' && isSame(entry.found, own)) {
    return true;
  }
  const orders = basesOf(own)
    .map((base) => orderOfBase(own, base, follow, new Set()))
    .filter(isNotEmpty);
  const [only, ...others] = orders;
  const [first] = only ?? [];
  if (others.length === 0) {
    return first?.kind === 'class' ? isCertain(first.found, entry, follow) : first?.key === entry.key;
  }
  const position = orders.findIndex((order) => order[0]?.key === entry.key);
  return (
    position >= 0 &&
    !orders
      .slice(0, position)
      .flat()
      .some(({ kind }) => kind === 'unresolved')
  );
}
