import type { ClassReference, ModuleFacts } from './moduleFacts';

/** A class of some file of the tree. */
export interface FoundClass {
  /** The path of its file. */
  readonly file: string;
  readonly facts: ModuleFacts;
  /** Index in the facts' classes. */
  readonly index: number;
}

/**
 * What a reference leads to:
 * - a class that can be looked at;
 * - `harmless`: a class that is known not to say anything about Ray (of the standard library, of pydantic);
 * - `gym_base`: a class of nemo_gym that servers are made from; it leaves the flag at None;
 * - `unresolved`: it cannot be found, or only running the file could tell.
 */
export type Resolution = FoundClass | 'harmless' | 'gym_base' | 'unresolved';

/** Leads from a reference in a file to what it means. */
export type FollowReference = (from: Omit<FoundClass, 'index'>, reference: ClassReference) => Resolution;
