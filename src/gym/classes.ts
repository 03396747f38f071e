import type { Node } from 'web-tree-sitter';
import { dottedNameOf, fullNameOf, importedNames, lastSegment, nameOf } from '../python/syntax';
import { type RayEnabledReading, readRayEnabled } from './readRayEnabled';

/** The classes of `nemo_gym` that carry the flag and that servers are made from. */
const GYM_BASES: ReadonlySet<string> = new Set([
  'SimpleServer',
  'SimpleResourcesServer',
  'SimpleResponsesAPIAgent',
  'SimpleResponsesAPIModel',
  'BaseEnvironmentServer',
]);

/** Any class of a file, and what it takes to tell whether it is a server. Holds nodes: use it only while the tree lives. */
export interface PythonClass {
  readonly nameNode: Node;
  readonly name: string;
  /** Python's `__qualname__`. */
  readonly qualifiedName: string;
  /** The function or module that the class is in. */
  readonly scope: Node;
  /** What the class is called in that scope: `Outer.Inner` for a class in a class. */
  readonly nameInScope: string;
  /** Whether the class stands at the top level of the file, under no condition. */
  readonly isTopLevel: boolean;
  /** Its bases in this file. They all stand before it, so that there are no cycles. */
  readonly bases: readonly PythonClass[];
  readonly hasGymBase: boolean;
  readonly flag: RayEnabledReading;
}

/** Every class of the file, in its order. */
export function classesIn(root: Node): PythonClass[] {
  const imports = importedNames(root);
  const found: PythonClass[] = [];
  for (const node of root.descendantsOfType('class_definition')) {
    const nameNode = node.childForFieldName('name');
    if (!nameNode || !hasWholeHeader(node)) {
      continue;
    }
    const bases = baseNamesOf(node);
    found.push({
      nameNode,
      name: nameOf(nameNode),
      ...placeOf(node, nameNode, root),
      isTopLevel: isTopLevel(node, root),
      bases: bases.map((base) => classNamed(base, node, found)).filter((base) => base !== undefined),
      hasGymBase: bases.some((base) => GYM_BASES.has(lastSegment(fullNameOf(base, imports)))),
      flag: readRayEnabled(node),
    });
  }
  return found;
}

/** The class that a name means at a place: of the classes of that name in the innermost scope that has one, the last. */
export function classNamed(name: string, place: Node, classes: readonly PythonClass[]): PythonClass | undefined {
  const candidates = classes.filter((candidate) => candidate.nameInScope === name);
  for (let node = place.parent; node && candidates.length > 0; node = node.parent) {
    const scope = node.id;
    const match = candidates.findLast((candidate) => candidate.scope.id === scope);
    if (match) {
      return match;
    }
  }
  return undefined;
}

/** Whether the class says something about the flag or comes from a server, as far as this file shows. */
export function isServer(candidate: PythonClass): boolean {
  return candidate.hasGymBase || candidate.flag.mentioned || candidate.bases.some(isServer);
}

/** The one class of this file whose declaration the class inherits; undefined when it has its own, or there are several. */
export function declaringBaseOf(candidate: PythonClass): PythonClass | undefined {
  if (candidate.flag.mentioned) {
    return undefined;
  }
  const [first, ...others] = new Set(candidate.bases.flatMap(nearestDeclarations));
  return others.length === 0 ? first : undefined;
}

/** Along each way up, the first class that says something. When all ways lead to one class, Python's order does too. */
function nearestDeclarations(candidate: PythonClass): PythonClass[] {
  return candidate.flag.mentioned ? [candidate] : candidate.bases.flatMap(nearestDeclarations);
}

/** With an error before its colon, a class may have swallowed the header of another one: its body is not surely its own. */
function hasWholeHeader(classNode: Node): boolean {
  const children = classNode.children;
  const colon = children.findIndex((child) => child.type === ':');
  return colon >= 0 && children.slice(0, colon + 1).every((child) => !child.hasError && !child.isMissing);
}

function baseNamesOf(classNode: Node): string[] {
  const names: string[] = [];
  for (const base of classNode.childForFieldName('superclasses')?.namedChildren ?? []) {
    // `Base[int]` is a subscript of the base.
    const expression = base.type === 'subscript' ? base.childForFieldName('value') : base;
    const name = expression ? dottedNameOf(expression) : undefined;
    if (name !== undefined) {
      names.push(name);
    }
  }
  return names;
}

function placeOf(
  classNode: Node,
  nameNode: Node,
  root: Node,
): Pick<PythonClass, 'qualifiedName' | 'scope' | 'nameInScope'> {
  let qualifiedName = nameOf(nameNode);
  let nameInScope = qualifiedName;
  let scope: Node | undefined;
  for (let node = classNode.parent; node; node = node.parent) {
    const name = node.childForFieldName('name');
    if (name && node.type === 'function_definition') {
      scope ??= node;
      qualifiedName = `${nameOf(name)}.<locals>.${qualifiedName}`;
    } else if (name && node.type === 'class_definition') {
      qualifiedName = `${nameOf(name)}.${qualifiedName}`;
      nameInScope = scope ? nameInScope : qualifiedName;
    }
  }
  return { qualifiedName, nameInScope, scope: scope ?? root };
}

function isTopLevel(classNode: Node, root: Node): boolean {
  const parent = classNode.parent;
  return (parent?.type === 'decorated_definition' ? parent.parent : parent)?.id === root.id;
}
