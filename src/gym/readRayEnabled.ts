import type { Node } from 'web-tree-sitter';
import { crossesLineEnd, isField, nameOf, rangeOf, type SourceRange, withoutParentheses } from '../python/syntax';
import type { RayEnabled, SupervisorReading } from './serverFile';

const FLAG = 'ray_enabled';

/** What one class body says about the flag. */
export interface RayEnabledReading {
  readonly rayEnabled: RayEnabled;
  readonly supervisor: SupervisorReading;
  /** Whether the body gives the flag a value or a type at all, whatever comes of it later. */
  readonly mentioned: boolean;
}

type Value = 'on' | 'off' | 'none' | 'unreadable' | 'deleted';

/** One thing in the class body that gives the name a value or takes it away. */
interface Binding {
  readonly value: Value;
  readonly range: SourceRange;
  /** Whether it is an assignment to the plain name, directly in the body: the only form that the supervisor looks at. */
  readonly direct: boolean;
}

/** Reads the flag in the body of a `class_definition`, as Python would run it: the last binding wins. */
export function readRayEnabled(classNode: Node): RayEnabledReading {
  const mentions = mentionsIn(classNode);
  const bindings = mentions.map((name) => bindingOf(name, classNode)).filter((binding) => binding !== undefined);
  const isGlobal = mentions.some((name) => name.parent?.type === 'global_statement');
  return {
    rayEnabled: isGlobal ? NOT_DECLARED : lastWord(bindings),
    supervisor: supervisorReading(bindings),
    mentioned: bindings.length > 0 || mentions.some(isBareAnnotation),
  };
}

const NOT_DECLARED: RayEnabled = { kind: 'not_declared', declaration: undefined };

function lastWord(bindings: readonly Binding[]): RayEnabled {
  const last = bindings.at(-1);
  if (!last || last.value === 'deleted') {
    return NOT_DECLARED;
  }
  return { kind: last.value === 'none' ? 'not_declared' : last.value, declaration: last.range };
}

/** Of two direct assignments the last one counts, as in Python; what Gym does with two is not published. */
function supervisorReading(bindings: readonly Binding[]): SupervisorReading {
  const value = bindings.findLast((binding) => binding.direct)?.value;
  return value === 'on' || value === 'off' ? value : 'unknown';
}

/** Every identifier that is the flag's name in the scope of the class itself, in the order of the file. */
function mentionsIn(classNode: Node): Node[] {
  // What the grammar could not fit in stands beside the body, not in it.
  const parts = classNode.children.filter((child) => child.type === 'block' || child.isError);
  return parts
    .flatMap((part) => (part.isError ? [part] : part.namedChildren))
    .filter((part) => part.text.normalize('NFKC').includes(FLAG))
    .flatMap((part) => part.descendantsOfType('identifier'))
    .filter((identifier) => nameOf(identifier) === FLAG && scopeIs(classNode, identifier));
}

const SCOPES: ReadonlySet<string> = new Set([
  'function_definition',
  'class_definition',
  'lambda',
  'list_comprehension',
  'set_comprehension',
  'dictionary_comprehension',
  'generator_expression',
]);

function scopeIs(classNode: Node, identifier: Node): boolean {
  let child = identifier;
  for (let node = identifier.parent; node; child = node, node = node.parent) {
    if (node.id === classNode.id) {
      return true;
    }
    // The name of an inner function or class belongs to the scope around it.
    if (SCOPES.has(node.type) && !isField(child, node, 'name')) {
      return false;
    }
  }
  return false;
}

/** Where a name is bound: the kind of node, and the field of it that the name (or a pattern with it) stands in. */
const BINDING_FIELDS: Readonly<Record<string, string>> = {
  assignment: 'left',
  augmented_assignment: 'left',
  for_statement: 'left',
  named_expression: 'name',
  aliased_import: 'alias',
  function_definition: 'name',
  class_definition: 'name',
};

/** Nodes that bind every name which stands right in them. */
const BINDING_PARENTS: ReadonlySet<string> = new Set(['as_pattern', 'as_pattern_target', 'splat_pattern']);

/** Nodes that only group the targets of a binding. */
const TARGET_GROUPS: ReadonlySet<string> = new Set([
  'pattern_list',
  'tuple_pattern',
  'list_pattern',
  'list_splat_pattern',
  'expression_list',
  'parenthesized_expression',
  'tuple',
  'list',
]);

function bindingOf(identifier: Node, classNode: Node): Binding | undefined {
  let target = identifier;
  let grouped = false;
  while (target.parent && TARGET_GROUPS.has(target.parent.type)) {
    target = target.parent;
    grouped ||= !isOnlyParentheses(target);
  }
  const parent = target.parent;
  if (!parent) {
    return undefined;
  }
  if (isUnfinished(parent, classNode)) {
    return { value: 'unreadable', range: rangeOf(identifier), direct: false };
  }
  if (parent.type === 'delete_statement') {
    const certain = isDirectlyIn(classNode, parent);
    return { value: certain ? 'deleted' : 'unreadable', range: rangeOf(parent), direct: false };
  }
  if (parent.type === 'assignment' && isField(target, parent, 'left')) {
    return grouped ? unreadableAt(rangeOf(parent)) : assignmentBinding(parent, classNode);
  }
  if (parent.type === 'augmented_assignment' && isField(target, parent, 'left')) {
    return unreadableAt(rangeOf(parent));
  }
  return bindsOtherwise(target, parent) ? unreadableAt(rangeOf(identifier)) : undefined;
}

function unreadableAt(range: SourceRange): Binding {
  return { value: 'unreadable', range, direct: false };
}

function bindsOtherwise(target: Node, parent: Node): boolean {
  const field = BINDING_FIELDS[parent.type];
  if (field !== undefined) {
    return isField(target, parent, field);
  }
  if (BINDING_PARENTS.has(parent.type)) {
    return true;
  }
  // A name alone in a case captures, and an import binds its first part; both are a dotted_name to the grammar.
  const around = parent.parent;
  return (
    parent.type === 'dotted_name' &&
    ((around?.type === 'case_pattern' && parent.namedChildCount === 1) ||
      ((around?.type === 'import_statement' || around?.type === 'import_from_statement') &&
        around.childForFieldName('module_name')?.id !== parent.id &&
        parent.firstNamedChild?.id === target.id))
  );
}

/** `a = b = VALUE` is to the grammar an assignment of an assignment; to Python it is one statement with two targets. */
function assignmentBinding(assignment: Node, classNode: Node): Binding | undefined {
  const value = assignedValue(assignment);
  if (value === undefined) {
    return undefined;
  }
  let whole = assignment;
  // An unfinished `x =` on the line above takes this assignment for its value; to whoever reads it they are two.
  while (whole.parent?.type === 'assignment' && whole.previousSibling?.endPosition.row === whole.startPosition.row) {
    whole = whole.parent;
  }
  let statement = whole.parent;
  while (statement?.type === 'assignment') {
    statement = statement.parent;
  }
  const direct = statement !== null && isDirectlyIn(classNode, statement);
  return { value: direct && !crossesLineEnd(whole) ? value : 'unreadable', range: rangeOf(whole), direct };
}

/** Undefined for a bare annotation, which assigns nothing. */
function assignedValue(assignment: Node): Value | undefined {
  // With an error inside, a literal may be only the part of the value that the grammar could make sense of.
  if (assignment.hasError) {
    return 'unreadable';
  }
  const right = assignment.childForFieldName('right');
  if (!right) {
    return undefined;
  }
  switch (withoutParentheses(right).type) {
    case 'assignment':
      return assignedValue(right) ?? 'unreadable';
    case 'true':
      return 'on';
    case 'false':
      return 'off';
    case 'none':
      return 'none';
    default:
      return 'unreadable';
  }
}

function isDirectlyIn(classNode: Node, statement: Node): boolean {
  return statement.parent?.type === 'block' && statement.parent.parent?.id === classNode.id;
}

/** `(name)` is a tuple pattern to the grammar, but to Python just the name. */
function isOnlyParentheses(group: Node): boolean {
  return (
    group.type === 'parenthesized_expression' ||
    (group.type === 'tuple_pattern' &&
      group.namedChildCount === 1 &&
      !group.children.some((child) => child.type === ','))
  );
}

function isBareAnnotation(identifier: Node): boolean {
  const parent = identifier.parent;
  return (
    parent?.type === 'assignment' && isField(identifier, parent, 'left') && parent.childForFieldName('type') !== null
  );
}

/** Whether the node stands in something that the grammar could not fit in between the class and it. */
function isUnfinished(start: Node, classNode: Node): boolean {
  for (let node: Node | null = start; node && node.id !== classNode.id; node = node.parent) {
    if (node.isError) {
      return true;
    }
  }
  return false;
}
