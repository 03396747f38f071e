import type { Node } from 'web-tree-sitter';
import { offsetsOfLookalikes, withoutLookalikes } from '../python/lookalikes';
import { dottedNameOf, isField, nameOf, rangeOf, withoutParentheses } from '../python/syntax';
import { FLAG, type FlagBinding, flagBindingsIn } from './flagInBody';
import type {
  ClassFragment,
  FoundInStatement,
  Fragment,
  ImportFragment,
  NameFragment,
  Origin,
  Scope,
  Surroundings,
} from './fragments';
import { originOf, relativeTo } from './fragments';
import type { BodyValue, RayRemote } from './moduleFacts';

/** Words that tell where in a text it is worth looking at the tree. All facts but plain assignments have one of them. */
const WORDS = /\b(?:class\b|import\b|run_webserver\b|ray_enabled\b|setattr\b|remote\b|__all__\b)/g;

/** What a fragment is made in: every list can still grow. */
type Draft = { -readonly [K in keyof Fragment]: Fragment[K] extends readonly (infer T)[] ? T[] : Fragment[K] };

/**
 * Reads one statement of a module or of a class body, with all that is in it; undefined when it says nothing.
 *
 * @param fileText the text of the whole file
 * @param classNode the class whose body it stands in; undefined in a module
 */
export function readStatement(statement: Node, fileText: string, classNode: Node | undefined): Fragment | undefined {
  const text = fileText.slice(statement.startIndex, statement.endIndex);
  const hits = hitsIn(text, statement.startIndex);
  const names = classNode ? [] : namesBoundBy(statement, text);
  if (hits.length === 0 && names.length === 0) {
    return undefined;
  }
  const draft: Draft = {
    classes: [],
    imports: [],
    calls: [],
    settings: [],
    remotes: [],
    names,
    exports: undefined,
    flagBindings: [],
    mentionsPyExecutable: text.includes('py_executable'),
  };
  if (hits.length > 0) {
    const origin = originOf(statement);
    visit(statement, [], hits, draft, { origin, fileText });
    if (classNode && mentionsFlag(text)) {
      draft.flagBindings.push(...relativeBindings(statement, classNode, { origin, fileText }));
    }
  }
  return draft;
}

/** Reads a class that is taken apart by its statements: only what stands before its body. */
export function readClassHeader(classNode: Node, origin: Origin): Omit<ClassFragment, 'flagBindings'> | undefined {
  const nameNode = classNode.childForFieldName('name');
  if (!nameNode || !hasWholeHeader(classNode)) {
    return undefined;
  }
  return {
    name: nameOf(nameNode),
    nameRange: relativeTo(rangeOf(nameNode), origin),
    bases: basesOf(classNode),
  };
}

/** The parts of a class that can say something: the statements of its body, and what the grammar could not fit in. */
export function partsOf(classNode: Node): Node[] {
  return classNode.children
    .filter((child) => child.type === 'block' || child.isError)
    .flatMap((part) => (part.isError ? [part] : part.namedChildren));
}

export function mentionsFlag(text: string): boolean {
  return text.includes(FLAG) || withoutLookalikes(text).includes(FLAG);
}

/** The offsets in the file of all that is worth a look. Any letter that passes for another is worth one. */
function hitsIn(text: string, start: number): number[] {
  const hits: number[] = [];
  for (const match of text.matchAll(WORDS)) {
    hits.push(start + match.index);
  }
  const lookalikes = offsetsOfLookalikes(text);
  if (lookalikes.length > 0) {
    hits.push(...lookalikes.map((offset) => start + offset));
    hits.sort((one, other) => one - other);
  }
  return hits;
}

/** The statement's file, and where in it the statement begins. */
interface Source {
  readonly origin: Origin;
  readonly fileText: string;
}

/** Goes down to each hit, with what is around it at hand: to ask a node for its parent is slow in a large file. */
function visit(node: Node, ancestors: readonly Node[], hits: readonly number[], draft: Draft, source: Source): void {
  take(node, ancestors, draft, source);
  const inside = [...ancestors, node];
  let next = 0;
  for (const child of node.namedChildren) {
    const start = child.startIndex;
    while (next < hits.length && (hits[next] ?? 0) < start) {
      next++;
    }
    if (next === hits.length) {
      return;
    }
    const first = next;
    const end = child.endIndex;
    while (next < hits.length && (hits[next] ?? 0) < end) {
      next++;
    }
    if (next > first) {
      visit(child, inside, hits.slice(first, next), draft, source);
    }
  }
}

function take(node: Node, ancestors: readonly Node[], draft: Draft, source: Source): void {
  const { origin } = source;
  const found = <T>(what: T, at: Node = node): FoundInStatement<T> => ({
    range: relativeTo(rangeOf(at), origin),
    around: surroundings(node, ancestors, origin),
    what,
  });
  switch (node.type) {
    case 'class_definition': {
      const header = readClassHeader(node, origin);
      if (header) {
        const flagBindings = partsOf(node)
          .filter((part) => mentionsFlag(part.text))
          .flatMap((part) => relativeBindings(part, node, source));
        draft.classes.push(found({ ...header, flagBindings }));
      }
      return;
    }
    case 'import_statement':
    case 'import_from_statement':
    case 'future_import_statement':
      draft.imports.push(...importsOf(node).map((what) => found(what)));
      return;
    case 'call':
      takeCall(node, draft, found);
      return;
    case 'decorator': {
      const expression = node.firstNamedChild;
      const name = expression?.type === 'call' ? undefined : expression && dottedNameOf(expression);
      if (name?.endsWith('remote')) {
        draft.remotes.push(found({ name, pyExecutable: 'missing' }));
      }
      return;
    }
    case 'assignment':
    case 'augmented_assignment':
      takeAssignment(node, ancestors, draft, found);
      return;
  }
}

type Found = <T>(what: T, at?: Node) => FoundInStatement<T>;

function takeCall(call: Node, draft: Draft, found: Found): void {
  const written = call.childForFieldName('function');
  const callee = written && withoutParentheses(written);
  if (callee?.type === 'identifier' && nameOf(callee) === 'setattr') {
    const [target, name, value] = call.childForFieldName('arguments')?.namedChildren ?? [];
    const targetName = target && dottedNameOf(target);
    if (targetName !== undefined && value && name?.type === 'string' && /^["']ray_enabled["']$/.test(name.text)) {
      draft.settings.push(found({ target: targetName, value: literalValue(value) }));
    }
    return;
  }
  const dotted = callee && dottedNameOf(callee);
  if (dotted?.endsWith('remote')) {
    draft.remotes.push(found({ name: dotted, pyExecutable: pyExecutableIn(call) }));
  }
  const method = callee?.childForFieldName('attribute');
  const object = callee?.childForFieldName('object');
  if (callee?.type === 'attribute' && object && method && nameOf(method) === 'run_webserver') {
    const receiver = dottedNameOf(withoutParentheses(object));
    if (receiver !== undefined) {
      draft.calls.push(found({ receiver }));
    }
  }
}

function takeAssignment(assignment: Node, ancestors: readonly Node[], draft: Draft, found: Found): void {
  const left = assignment.childForFieldName('left');
  if (!left) {
    return;
  }
  const attribute = left.type === 'attribute' ? left.childForFieldName('attribute') : null;
  const object = left.childForFieldName('object');
  if (attribute && object && nameOf(attribute) === FLAG) {
    const target = dottedNameOf(object);
    const right = assignment.childForFieldName('right');
    if (target !== undefined && right) {
      draft.settings.push(found({ target, value: literalValue(right) }));
    }
  }
  if (left.type === 'identifier' && nameOf(left) === '__all__' && ancestors.length <= 1) {
    const names = stringsIn(assignment.childForFieldName('right'));
    draft.exports = { names, areAdded: assignment.type === 'augmented_assignment' };
  }
}

function literalValue(node: Node): BodyValue {
  switch (withoutParentheses(node).type) {
    case 'true':
      return 'on';
    case 'false':
      return 'off';
    case 'none':
      return 'not_declared';
    default:
      return 'unreadable';
  }
}

/** What a literal list or tuple of strings holds; undefined when it is something else. */
function stringsIn(node: Node | null): string[] | undefined {
  if (node?.type !== 'list' && node?.type !== 'tuple') {
    return undefined;
  }
  const strings = node.namedChildren.filter((child) => !child.isExtra);
  return strings.every((child) => child.type === 'string')
    ? strings.map((child) => child.text.replace(/^["']|["']$/g, ''))
    : undefined;
}

/** `ray.remote(…)`: without a runtime_env, or with a literal one that lacks it, the workers take another Python. */
function pyExecutableIn(call: Node): RayRemote['pyExecutable'] {
  for (const argument of call.childForFieldName('arguments')?.namedChildren ?? []) {
    if (argument.type === 'dictionary_splat') {
      return 'unknown';
    }
    const name = argument.type === 'keyword_argument' ? argument.childForFieldName('name') : null;
    if (name && nameOf(name) === 'runtime_env') {
      const value = argument.childForFieldName('value');
      if (/["']py_executable["']|\bpy_executable\s*=/.test(value?.text ?? '')) {
        return 'given';
      }
      const isPlain = value?.type === 'dictionary' && !value.children.some(({ type }) => type === 'dictionary_splat');
      return isPlain ? 'missing' : 'unknown';
    }
  }
  return 'missing';
}

function relativeBindings(part: Node, classNode: Node, { origin, fileText }: Source): FlagBinding[] {
  return flagBindingsIn(part, classNode, fileText).map((binding) => ({
    ...binding,
    range: relativeTo(binding.range, origin),
  }));
}

/** With an error before its colon, a class may have swallowed the header of another one: its body is not surely its own. */
function hasWholeHeader(classNode: Node): boolean {
  const children = classNode.children;
  const colon = children.findIndex((child) => child.type === ':');
  return colon >= 0 && children.slice(0, colon + 1).every((child) => !child.hasError && !child.isMissing);
}

function basesOf(classNode: Node): ClassFragment['bases'] {
  return (classNode.childForFieldName('superclasses')?.namedChildren ?? [])
    .filter(({ type, isExtra }) => !isExtra && type !== 'keyword_argument' && type !== 'dictionary_splat')
    .map((base) => {
      const plain = withoutParentheses(base);
      // `Base[int]` is a subscript of the base.
      const expression = plain.type === 'subscript' ? plain.childForFieldName('value') : plain;
      return { name: expression ? dottedNameOf(expression) : undefined, text: base.text };
    });
}

function importsOf(statement: Node): ImportFragment[] {
  const text = statement.text;
  const items = statement.childrenForFieldName('name').map((item) => ({
    name: dottedNameOf(item.childForFieldName('name') ?? item) ?? '',
    alias: optionalName(item.childForFieldName('alias')),
  }));
  if (statement.type === 'import_statement') {
    return items.map(({ name, alias }) => ({ module: name, level: 0, names: [], isFrom: false, alias, text }));
  }
  const from = statement.childForFieldName('module_name');
  if (!from) {
    return [];
  }
  const dotted = from.type === 'relative_import' ? from.namedChildren.find(({ type }) => type === 'dotted_name') : from;
  const level = from.type === 'relative_import' ? (from.text.match(/^[.\s]*/)?.[0].replace(/\s/g, '').length ?? 0) : 0;
  const isStar = statement.namedChildren.some(({ type }) => type === 'wildcard_import');
  const names = isStar ? [{ name: '*', alias: undefined }] : items;
  return [{ module: dotted ? (dottedNameOf(dotted) ?? '') : '', level, names, isFrom: true, alias: undefined, text }];
}

function optionalName(node: Node | null): string | undefined {
  return node ? nameOf(node) : undefined;
}

const PLAIN_ASSIGNMENT = /^[\p{L}_][\p{L}\p{N}_]*\s*(?::[^=]*)?=[^=]/u;
const FUNCTION = /^(?:async\s+)?def\s/;

/** The names that a statement of the module binds to something: what they stand for, when that is another name. */
function namesBoundBy(statement: Node, text: string): FoundInStatement<NameFragment>[] {
  const found = (name: Node, alias: string | undefined): FoundInStatement<NameFragment> => ({
    range: relativeTo(rangeOf(statement), originOf(statement)),
    around: NOTHING_AROUND,
    what: { name: nameOf(name), alias },
  });
  if (PLAIN_ASSIGNMENT.test(text) && statement.type === 'expression_statement') {
    const targets: Node[] = [];
    let value = statement.firstNamedChild;
    // `A = B = Base` is to the grammar an assignment of an assignment.
    while (value?.type === 'assignment') {
      const left = value.childForFieldName('left');
      if (left?.type === 'identifier') {
        targets.push(left);
      }
      value = value.childForFieldName('right');
    }
    const alias = value ? dottedNameOf(withoutParentheses(value)) : undefined;
    return value ? targets.map((target) => found(target, alias)) : [];
  }
  if (FUNCTION.test(text) && statement.type === 'function_definition') {
    const name = statement.childForFieldName('name');
    return name ? [found(name, undefined)] : [];
  }
  return [];
}

const NOTHING_AROUND: Surroundings = {
  scopes: [],
  isPlain: true,
  conditional: false,
  inTry: false,
  typeCheckingOnly: false,
  guard: undefined,
};

const CONDITIONS: ReadonlySet<string> = new Set([
  'if_statement',
  'try_statement',
  'for_statement',
  'while_statement',
  'match_statement',
]);

/** Nodes that do not stand between a statement and the body it is in. */
const TRANSPARENT: ReadonlySet<string> = new Set([
  'decorated_definition',
  'class_definition',
  'function_definition',
  'block',
  'expression_statement',
]);

function surroundings(node: Node, ancestors: readonly Node[], origin: Origin): Surroundings {
  if (ancestors.length === 0) {
    return NOTHING_AROUND;
  }
  const scopes: Scope[] = [];
  let isPlain = true;
  let conditional = false;
  let inTry = false;
  let typeCheckingOnly = false;
  let guard: Surroundings['guard'];
  for (const [index, ancestor] of ancestors.entries()) {
    const below = ancestors[index + 1] ?? node;
    const name = nameOfScope(ancestor);
    if (name !== undefined && isInBody(below, ancestor)) {
      const kind = ancestor.type === 'class_definition' ? 'class' : 'function';
      const { startLine, startColumn } = relativeTo(rangeOf(ancestor), origin);
      scopes.push({ kind, name, line: startLine, column: startColumn });
      // What a body is called under does not depend on where it is defined.
      isPlain = true;
      conditional = false;
      inTry = false;
    }
    const branch = branchOf(ancestor, below);
    if (!TRANSPARENT.has(ancestor.type)) {
      isPlain = false;
    }
    if (CONDITIONS.has(ancestor.type) && branch !== 'main') {
      conditional = true;
      inTry = ancestor.type === 'try_statement';
    }
    if (branch === 'type_checking') {
      typeCheckingOnly = true;
    } else {
      guard = branch ?? guard;
    }
  }
  return { scopes, isPlain, conditional, inTry, typeCheckingOnly, guard };
}

/** Undefined for what is no scope. */
function nameOfScope(node: Node): string | undefined {
  if (node.type === 'lambda') {
    return '<lambda>';
  }
  const isScope = node.type === 'class_definition' || node.type === 'function_definition';
  const name = isScope ? node.childForFieldName('name') : null;
  return name ? nameOf(name) : undefined;
}

function isInBody(below: Node, scope: Node): boolean {
  // A default value or a base is evaluated around the scope, not in it; a comment may stand between the colon and the body.
  return isField(below, scope, 'body') || below.isError;
}

/** Which branch of an `if` it is, where the condition is one that matters here. */
function branchOf(ancestor: Node, below: Node): NonNullable<Surroundings['guard']> | 'type_checking' | undefined {
  if (ancestor.type === 'conditional_expression') {
    return branchOfExpression(ancestor, below);
  }
  if (ancestor.type !== 'if_statement' && ancestor.type !== 'elif_clause') {
    return undefined;
  }
  const condition = ancestor.childForFieldName('condition');
  const kind = condition ? kindOfTest(condition.text) : undefined;
  if (isField(below, ancestor, 'consequence')) {
    return kind;
  }
  if (below.type !== 'else_clause' && below.type !== 'elif_clause') {
    return undefined;
  }
  const previous = ancestor.type === 'if_statement' ? earlierBranches(ancestor, below) : [];
  const tests = [kind, ...previous];
  return tests.includes('not_main') ? 'main' : tests.includes('main') ? 'not_main' : undefined;
}

/** `A if TEST else B`. */
function branchOfExpression(expression: Node, below: Node): NonNullable<Surroundings['guard']> | undefined {
  const [first, test] = expression.namedChildren.filter(({ isExtra }) => !isExtra);
  const kind = test ? kindOfTest(test.text) : undefined;
  if (kind === undefined || kind === 'type_checking' || below.id === test?.id) {
    return undefined;
  }
  if (below.id === first?.id) {
    return kind;
  }
  return kind === 'main' ? 'not_main' : kind === 'not_main' ? 'main' : undefined;
}

/** The tests of the `elif`s before a branch: none of them holds in it. */
function earlierBranches(ifStatement: Node, below: Node): ReturnType<typeof kindOfTest>[] {
  return ifStatement.namedChildren
    .filter((child) => child.type === 'elif_clause' && child.startIndex < below.startIndex)
    .map((clause) => kindOfTest(clause.childForFieldName('condition')?.text ?? ''));
}

function kindOfTest(condition: string): NonNullable<Surroundings['guard']> | 'type_checking' | undefined {
  const text = condition.normalize('NFKC').replace(/\s+/g, '');
  if (/(^|[.(])TYPE_CHECKING\)?$/.test(text)) {
    return text.startsWith('not') ? undefined : 'type_checking';
  }
  if (text.includes('is_nemo_gym_fastapi_entrypoint(')) {
    return 'fastapi';
  }
  const test = /__name__(==|!=)["']__main__["']|["']__main__["'](==|!=)__name__/.exec(text);
  if (!test) {
    return undefined;
  }
  const isNegated = /^not\b|^not\(|^\(?not/.test(text);
  const isEqual = (test[1] ?? test[2]) === '==';
  return isEqual !== isNegated ? 'main' : 'not_main';
}
