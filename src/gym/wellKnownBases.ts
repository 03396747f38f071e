import type { ClassReference } from './moduleFacts';

/**
 * The classes of `nemo_gym` that servers are made from. `SimpleServer` carries the flag, as None; the others are in front
 * of it in Python's order of bases.
 */
export const GYM_BASES: ReadonlySet<string> = new Set([
  'SimpleServer',
  'SimpleResourcesServer',
  'SimpleResponsesAPIAgent',
  'SimpleResponsesAPIModel',
  'BaseEnvironmentServer',
]);

/** Modules whose classes say nothing about Ray and come from no server. */
const HARMLESS_MODULES: ReadonlySet<string> = new Set([
  'abc',
  'collections',
  'contextlib',
  'dataclasses',
  'enum',
  'pydantic',
  'threading',
  'types',
  'typing',
  'typing_extensions',
]);

/** Of Python's own classes, those that a server can have for a base. */
const HARMLESS_NAMES: ReadonlySet<string> = new Set(['object', 'Exception', 'dict', 'list', 'str', 'int']);

/** What is known of a base by its name alone; undefined when it must be looked at. */
export function wellKnownBase(reference: ClassReference): 'gym_base' | 'harmless' | undefined {
  const name = lastNameOf(reference);
  if (name !== undefined && GYM_BASES.has(name)) {
    return reference.kind === 'import' || reference.kind === 'name' ? 'gym_base' : undefined;
  }
  if (reference.kind === 'import') {
    const [top] = reference.module.split('.');
    return reference.level === 0 && HARMLESS_MODULES.has(top ?? '') ? 'harmless' : undefined;
  }
  return reference.kind === 'name' && HARMLESS_NAMES.has(reference.name) ? 'harmless' : undefined;
}

/** The base itself is `SimpleServer`, which carries the flag, and not one of those in front of it. */
export function carriesTheFlag(reference: ClassReference): boolean {
  return lastNameOf(reference) === 'SimpleServer';
}

function lastNameOf(reference: ClassReference): string | undefined {
  if (reference.kind === 'name') {
    return reference.name;
  }
  return reference.kind === 'import' ? reference.path.at(-1) : undefined;
}
