import type { FollowReference, Resolution } from './followReference';
import type { ClassReference } from './moduleFacts';
import { wellKnownBase } from './wellKnownBases';

/** Follows nothing out of a file: what is not in it is unresolved. */
export const withinTheFile: FollowReference = (from, reference) => {
  switch (reference.kind) {
    case 'class':
      return { ...from, index: reference.index };
    case 'either':
      return firstFound(reference, (choice) => withinTheFile(from, choice));
    case 'star_or':
      return withinTheFile(from, reference.otherwise);
    default:
      return wellKnownBase(reference) ?? 'unresolved';
  }
};

/**
 * What a `try` or an `if` makes of a name: in a `try` the first that can be found, as Python takes the `except` only when
 * the import failed. Which branch of an `if` is taken, only running the file can tell, unless all lead to one class.
 */
export function firstFound(
  { inTry, choices }: Extract<ClassReference, { kind: 'either' }>,
  follow: (choice: ClassReference) => Resolution,
): Resolution {
  const found = choices.map(follow);
  if (inTry) {
    return found.find((resolution) => resolution !== 'unresolved') ?? 'unresolved';
  }
  const [first, ...others] = found;
  return first && others.every((other) => isSame(first, other)) ? first : 'unresolved';
}

/** Whether two resolutions lead to one class. */
export function isSame(one: Resolution, other: Resolution): boolean {
  if (typeof one === 'string' || typeof other === 'string') {
    return one === other;
  }
  return one.file === other.file && one.index === other.index;
}

/** `module:Name` for an import, else as written. */
export function nameOfReference(reference: ClassReference): string {
  switch (reference.kind) {
    case 'import':
      return `${'.'.repeat(reference.level)}${reference.module}:${reference.path.join('.')}`;
    case 'name':
      return reference.name;
    case 'either':
      return reference.choices.map(nameOfReference).join(' or ');
    case 'unknown':
      return reference.text;
    case 'star_or':
      return reference.name;
    case 'class':
      return '';
  }
}
