import type { Node } from 'web-tree-sitter';
import { dottedNameOf, fullNameOf, importedNames, nameOf, withoutParentheses } from '../python/syntax';

/** The decorator, and the packages that hand it on. */
const BENCHMARK_DECORATORS: ReadonlySet<string> = new Set([
  'nemo_evaluator.environments.custom.benchmark',
  'nemo_evaluator.environments.benchmark',
  'nemo_evaluator.benchmark',
]);

/** String prefixes that leave the text between the quotes as it is written; bytes and f-strings are not among them. */
const PLAIN_PREFIXES: ReadonlySet<string> = new Set(['', 'r', 'u']);

/** Whether it is worth parsing the text for benchmarks: cheap, and never false for a text that has some. */
export function mayHoldBenchmarks(text: string): boolean {
  return text.includes('nemo_evaluator') && text.includes('benchmark');
}

/**
 * The names that a file's `@benchmark(name="…")` decorators register, in the order of the file, each once.
 * A name that is not one plain string is left out: it can only be known by running the file.
 */
export function benchmarksIn(root: Node): string[] {
  const imports = importedNames(root);
  const names = new Set<string>();
  for (const decorator of root.descendantsOfType('decorator')) {
    const call = decorator.namedChildren.find((child) => child.type === 'call');
    const decoratorName = call?.childForFieldName('function');
    const written = decoratorName ? dottedNameOf(decoratorName) : undefined;
    if (!call || written === undefined || !BENCHMARK_DECORATORS.has(fullNameOf(written, imports))) {
      continue;
    }
    const name = nameArgument(call);
    const value = name && !call.hasError ? plainString(name) : undefined;
    if (value !== undefined) {
      names.add(value);
    }
  }
  return [...names];
}

/** The value of the argument `name`, which is also the first one by position. */
function nameArgument(call: Node): Node | undefined {
  const values = call.childForFieldName('arguments')?.namedChildren.filter((child) => !child.isExtra) ?? [];
  for (const argument of values) {
    const keyword = argument.type === 'keyword_argument' ? argument.childForFieldName('name') : null;
    if (keyword && nameOf(keyword) === 'name') {
      return argument.childForFieldName('value') ?? undefined;
    }
  }
  const first = values[0];
  return first && first.type !== 'keyword_argument' && first.type !== 'dictionary_splat' ? first : undefined;
}

/** The text of one string literal without placeholders or escapes; undefined for every other expression. */
function plainString(expression: Node): string | undefined {
  const literal = withoutParentheses(expression);
  const [start, content, end] = literal.namedChildren;
  if (
    literal.type !== 'string' ||
    literal.namedChildCount !== 3 ||
    start?.type !== 'string_start' ||
    content?.type !== 'string_content' ||
    end?.type !== 'string_end' ||
    content.namedChildCount > 0 ||
    !PLAIN_PREFIXES.has(start.text.toLowerCase().replaceAll('"', '').replaceAll("'", ''))
  ) {
    return undefined;
  }
  return content.text;
}
