import type { Node } from 'web-tree-sitter';
import { crossesLineEnd, isField, nameOf, rangeOf, type SourceRange, withoutParentheses } from '../python/syntax';
import type { FlagFacts, FlagWarning } from './moduleFacts';

export const FLAG = 'ray_enabled';

type Value = 'on' | 'off' | 'none' | 'unreadable' | 'deleted';

/** One thing in a class body that gives the flag a value, a type, or takes it away. */
export interface FlagBinding {
  /** `annotation`: a type and no value. `global`: the name is not the class's at all. */
  readonly value: Value | 'annotation' | 'global';
  readonly range: SourceRange;
  /** Whether it is an assignment to the plain name, directly in the body: the only form that the supervisor looks at. */
  readonly direct: boolean;
  readonly form: NonNullable<FlagFacts['form']>;
  /** Its type, as far as pydantic cares: a class variable, or a field of the model. */
  readonly annotation: 'class_var' | 'field' | undefined;
  /** The name that its type begins with: the file may call a class variable something else. */
  readonly typeName?: string;
}

/** Reads what one statement of a class body binds the flag to. Nothing when it does not speak of it. */
export function flagBindingsIn(statement: Node, classNode: Node, fileText: string): FlagBinding[] {
  return statement
    .descendantsOfType('identifier')
    .filter((identifier) => nameOf(identifier) === FLAG && scopeIs(classNode, identifier))
    .map((identifier) => bindingOf(identifier, classNode, fileText))
    .filter((binding) => binding !== undefined);
}

/**
 * What a statement of a class body does with the flag:
 * - `declares`: assigns to the plain name, or gives it a type, and does nothing else with it;
 * - `deletes`: nothing but `del ray_enabled`;
 * - `binds`: gives it a value, or takes it away, in any other way;
 * - `global`: makes it a name of the module;
 * - `reads`: only looks at it.
 */
export interface FlagStatement {
  readonly kind: 'declares' | 'deletes' | 'binds' | 'global' | 'reads';
  readonly node: Node;
}

/** The statements of a class body that have to do with the flag of this class, in their order. */
export function flagStatementsIn(body: Node, classNode: Node, fileText: string): FlagStatement[] {
  return body.namedChildren.flatMap((node) => {
    const uses = node
      .descendantsOfType('identifier')
      .filter((identifier) => nameOf(identifier) === FLAG && !isOnlyALabel(identifier))
      .filter((identifier) => scopeIs(classNode, identifier));
    if (uses.length === 0) {
      return [];
    }
    const bindings = flagBindingsIn(node, classNode, fileText);
    const isAlone = uses.length === 1;
    const kind = bindings.some(({ value }) => value === 'global')
      ? 'global'
      : isAlone && plainDeclaration(node)
        ? 'declares'
        : isAlone && node.type === 'delete_statement' && node.firstNamedChild?.type === 'identifier'
          ? 'deletes'
          : bindings.length > 0
            ? 'binds'
            : 'reads';
    return [{ kind, node }];
  });
}

/** The assignment or annotation that a statement is, when its target is the flag by its plain name. */
export function plainDeclaration(statement: Node): Node | undefined {
  const assignment = statement.type === 'expression_statement' ? statement.firstNamedChild : null;
  const left = assignment?.type === 'assignment' ? assignment.childForFieldName('left') : null;
  return assignment && left?.type === 'identifier' && nameOf(left) === FLAG ? assignment : undefined;
}

/** The name of a keyword argument, or of an attribute of something: no name of the scope that it stands in. */
function isOnlyALabel(identifier: Node): boolean {
  const { parent } = identifier;
  return (
    (parent?.type === 'keyword_argument' && isField(identifier, parent, 'name')) ||
    (parent?.type === 'attribute' && isField(identifier, parent, 'attribute'))
  );
}

/** What a class body says about the flag as a whole, as Python would run it: the last binding wins. */
export function foldFlag(bindings: readonly FlagBinding[]): FlagFacts {
  const isGlobal = bindings.some(({ value }) => value === 'global');
  const assigned = bindings.filter(({ value }) => value !== 'annotation' && value !== 'global');
  const direct = assigned.filter((binding) => binding.direct);
  const last = isGlobal ? undefined : assigned.at(-1);
  const isThere = last !== undefined && last.value !== 'deleted';
  // Of two direct assignments the last one counts, as in Python; what Gym does with two is not published.
  const strict = direct.at(-1)?.value;
  const typed = bindings.findLast(({ annotation }) => annotation !== undefined);
  const strictOpen = direct.length > 1 || direct.some(({ form }) => form === 'chained');
  return {
    value: !isThere || last.value === 'none' ? 'not_declared' : asBodyValue(last.value),
    declaration: isThere ? last.range : undefined,
    form: isThere ? last.form : undefined,
    strict: strict === 'on' || strict === 'off' ? strict : 'unknown',
    strictOpen,
    bound: isThere,
    type: typed?.annotation && { makes: typed.annotation, range: typed.range },
    mentioned: bindings.length > 0,
    warnings: warningsOf(bindings, assigned, last, strictOpen, typed),
  };
}

function asBodyValue(value: FlagBinding['value']): 'on' | 'off' | 'unreadable' {
  return value === 'on' || value === 'off' ? value : 'unreadable';
}

function warningsOf(
  bindings: readonly FlagBinding[],
  assigned: readonly FlagBinding[],
  last: FlagBinding | undefined,
  strictOpen: boolean,
  typed: FlagBinding | undefined,
): FlagWarning[] {
  const warnings: FlagWarning[] = [];
  const warn = (code: FlagWarning['code'], at: FlagBinding | undefined): void => {
    if (at) {
      warnings.push({ code, range: at.range });
    }
  };
  warn('not_a_literal', last?.value === 'unreadable' ? last : undefined);
  // A type on any of them makes a field of the model out of all of them.
  const field = typed?.annotation === 'field' ? typed : undefined;
  const hasValue = last !== undefined && last.value !== 'deleted';
  warn('annotated_without_class_var', hasValue ? field : undefined);
  warn('annotation_without_value', hasValue ? undefined : bindings.find(({ value }) => value === 'annotation'));
  warn('declared_more_than_once', assigned.length > 1 ? assigned.at(-1) : undefined);
  warn('strict_reading_open', strictOpen ? assigned.findLast(({ direct }) => direct) : undefined);
  return warnings;
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
  let isDefault = false;
  for (let node = identifier.parent; node; child = node, node = node.parent) {
    if (node.id === classNode.id) {
      return true;
    }
    isDefault ||= DEFAULTS.has(node.type) && isField(child, node, 'value');
    if (SCOPES.has(node.type) && !isOutside(child, node, isDefault)) {
      return false;
    }
  }
  return false;
}

const DEFAULTS: ReadonlySet<string> = new Set(['default_parameter', 'typed_default_parameter']);

/** The name of a function or class, its bases and the default values of its parameters belong to the scope around it. */
function isOutside(child: Node, scope: Node, isDefault: boolean): boolean {
  return (
    isField(child, scope, 'name') ||
    isField(child, scope, 'superclasses') ||
    (isDefault && isField(child, scope, 'parameters'))
  );
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

function bindingOf(identifier: Node, classNode: Node, fileText: string): FlagBinding | undefined {
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
  if (parent.type === 'global_statement' || parent.type === 'nonlocal_statement') {
    return { ...otherAt(rangeOf(parent)), value: 'global' };
  }
  if (isUnfinished(parent, classNode)) {
    return otherAt(rangeOf(identifier));
  }
  if (parent.type === 'delete_statement') {
    return { ...otherAt(rangeOf(parent)), value: isDirectlyIn(classNode, parent) ? 'deleted' : 'unreadable' };
  }
  if (parent.type === 'assignment' && isField(target, parent, 'left')) {
    return grouped ? otherAt(rangeOf(parent)) : assignmentBinding(parent, target, classNode, fileText);
  }
  if (parent.type === 'augmented_assignment' && isField(target, parent, 'left')) {
    return otherAt(rangeOf(parent));
  }
  return bindsOtherwise(target, parent) ? otherAt(rangeOf(identifier)) : undefined;
}

/** A binding that only running the file can tell. */
export function otherAt(range: SourceRange): FlagBinding {
  return { value: 'unreadable', range, direct: false, form: 'other', annotation: undefined };
}

function bindsOtherwise(target: Node, parent: Node): boolean {
  const field = BINDING_FIELDS[parent.type];
  if (field !== undefined) {
    return isField(target, parent, field);
  }
  if (BINDING_PARENTS.has(parent.type)) {
    return true;
  }
  if (parent.type === 'type' && parent.parent?.type === 'type_alias_statement') {
    return isField(parent, parent.parent, 'left');
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
function assignmentBinding(assignment: Node, target: Node, classNode: Node, fileText: string): FlagBinding {
  const value = assignedValue(assignment);
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
  // Of a target in parentheses Python keeps no annotation.
  const annotation = target.type === 'identifier' ? annotationOf(assignment) : undefined;
  const typeName = annotation === 'field' ? typeNameOf(assignment) : undefined;
  const type = { annotation, ...(typeName === undefined ? {} : { typeName }) };
  if (value === undefined) {
    return { ...otherAt(rangeOf(whole)), value: 'annotation', ...type };
  }
  const isChained = whole.id !== assignment.id || assignment.childForFieldName('right')?.type === 'assignment';
  const form = isChained ? 'chained' : assignment.childForFieldName('type') ? 'annotated' : 'assign';
  return {
    value: direct && !crossesLineEnd(whole) && endsItsLine(whole, fileText) ? value : 'unreadable',
    range: rangeOf(whole),
    direct,
    form: direct ? form : 'conditional',
    ...type,
  };
}

/** Of `flag = True(` the grammar can make an assignment of True, and an error beside it. */
function endsItsLine(statement: Node, fileText: string): boolean {
  return /^[ \t\f]*(?:[;#\r\n]|\\\r?\n|$)/.test(fileText.slice(statement.endIndex, statement.endIndex + 200));
}

/** What pydantic makes of the type: a `Final` with a value is a class variable to it, as a `ClassVar` is. */
export function annotationOf(assignment: Node): FlagBinding['annotation'] {
  const type = assignment.childForFieldName('type');
  if (!type) {
    return undefined;
  }
  return /^["'(\s]*(?:[\w.]*\bAnnotated\[\s*)?(?:[\w.]+\.)?(?:ClassVar|Final)\b/.test(type.text)
    ? 'class_var'
    : 'field';
}

function typeNameOf(assignment: Node): string | undefined {
  const type = assignment.childForFieldName('type')?.text.normalize('NFKC');
  return type && /^["'(\s]*([\p{L}_][\p{L}\p{N}_.]*)/u.exec(type)?.[1];
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

/** Whether the node stands in something that the grammar could not fit in between the class and it. */
function isUnfinished(start: Node, classNode: Node): boolean {
  for (let node: Node | null = start; node && node.id !== classNode.id; node = node.parent) {
    if (node.isError) {
      return true;
    }
  }
  return false;
}
