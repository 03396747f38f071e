import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, parseAllDocuments, type YAMLMap } from 'yaml';
import type { SourceRange } from '../python/syntax';
import type { ConfigurationMap, ConfigurationValue } from './configuration';

/** A value with its place. */
export interface Read {
  readonly plain: ConfigurationValue;
  readonly range: SourceRange;
  /** Where it is a map. */
  readonly map?: ReadMap;
  /** Where it is a list. */
  readonly items?: readonly Read[];
}

export interface ReadMap {
  readonly plain: ConfigurationMap;
  readonly entries: ReadonlyMap<string, { readonly keyRange: SourceRange; readonly value: Read }>;
}

export interface ReadYaml {
  /** The map that the first document is, as much of it as could be read; undefined when it is none. */
  readonly root: ReadMap | undefined;
  /** The first thing for which OmegaConf, with which Gym reads its files, refuses this one. */
  readonly problem: { readonly message: string; readonly range: SourceRange } | undefined;
}

/** A file that says more through its anchors is made to exhaust whoever reads it. */
const MOST_VALUES = 100_000;

/** Reads a YAML text as PyYAML does, with positions. This module is the only one that loads the YAML library. */
export function readYaml(text: string): ReadYaml {
  const rangeOf = createRangeOf(text);
  try {
    // The library compares each key with every other one of its map; here a look into the map does.
    const documents = [...parseAllDocuments(text, { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' })];
    const [document, second] = documents;
    const error = documents.flatMap(({ errors }) => errors)[0];
    const reader = createReader(rangeOf);
    const root = document?.contents ? reader.read(document.contents).map : undefined;
    if (error) {
      return { root, problem: { message: `${error.message}.`, range: rangeOf(error.pos[0], error.pos[1]) } };
    }
    if (second) {
      const [start] = second.range;
      return { root, problem: { message: 'Gym reads files of one document only.', range: rangeOf(start, start) } };
    }
    return { root, problem: reader.problem() };
  } catch (error) {
    // So deeply nested that the stack does not hold it.
    const message = error instanceof Error ? error.message : String(error);
    return { root: undefined, problem: { message, range: rangeOf(0, 0) } };
  }
}

interface Reader {
  read(node: Node): Read;
  problem(): ReadYaml['problem'];
}

type RangeOf = (start: number, end: number) => SourceRange;

function createReader(rangeOf: RangeOf): Reader {
  let problem: ReadYaml['problem'];
  let count = 0;
  /** An alias means the latest anchor of its name above it; one inside its own anchor means nothing that Gym could use. */
  const anchors = new Map<string, { readonly value: Read; readonly size: number }>();

  const note = (message: string, range: SourceRange): void => {
    problem ??= { message, range };
  };

  const read = (node: Node): Read => {
    const [start, end] = node.range ?? [0, 0];
    const range = rangeOf(start, end);
    if (isAlias(node)) {
      const found = anchors.get(node.source);
      count += found?.size ?? 0;
      if (found && count <= MOST_VALUES) {
        return found.value;
      }
      note(found ? 'The anchors of this file make too much of it.' : `There is no anchor ${node.source}.`, range);
      return { plain: null, range };
    }
    const before = count;
    count += 1;
    const value = readAnchored(node, range);
    if ('anchor' in node && typeof node.anchor === 'string') {
      anchors.set(node.anchor, { value, size: count - before });
    }
    return value;
  };

  const readAnchored = (node: Node, range: SourceRange): Read => {
    if (isMap<Node, Node | null>(node)) {
      const map = readMap(node);
      return { plain: map.plain, range, map };
    }
    if (isSeq<Node | null>(node)) {
      const items = node.items.map((item) => (item ? read(item) : { plain: null, range }));
      return { plain: items.map((item) => item.plain), range, items };
    }
    return { plain: isScalar(node) ? plainScalar(node.value) : null, range };
  };

  const readMap = (node: YAMLMap<Node, Node | null>): ReadMap => {
    const own = new Map<string, { keyRange: SourceRange; value: Read }>();
    const merged = new Map<string, { keyRange: SourceRange; value: Read }>();
    for (const pair of node.items) {
      const entry = readPair(pair);
      if (entry === undefined) {
        continue;
      }
      const { key, keyRange, value } = entry;
      if (key === '<<') {
        // Of several maps the first one has the say.
        for (const source of value.items ?? [value]) {
          for (const [name, taken] of source.map?.entries ?? []) {
            if (!merged.has(name)) {
              merged.set(name, taken);
            }
          }
        }
        continue;
      }
      if (own.has(key)) {
        note(`The key ${key} stands here twice; Gym refuses such a file.`, keyRange);
      }
      own.set(key, { keyRange, value });
    }
    // PyYAML puts what is merged before the map's own keys.
    const entries = new Map([...merged, ...own]);
    return { plain: new Map([...entries].map(([key, { value }]) => [key, value.plain])), entries };
  };

  const readPair = ({ key, value }: Pair<Node, Node | null>) => {
    if (!isScalar(key) || !key.range) {
      return undefined;
    }
    const keyRange = rangeOf(key.range[0], key.range[1]);
    return {
      key: String(key.value),
      keyRange,
      value: value ? read(value) : { plain: null, range: rangeOf(key.range[1], key.range[1]) },
    };
  };

  return { read, problem: () => problem };
}

function plainScalar(value: unknown): ConfigurationValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

/** From offsets to lines and columns as VS Code counts them. The library takes a lone carriage return for no line break. */
function createRangeOf(text: string): RangeOf {
  const starts = [0];
  for (const { index, 0: breaks } of text.matchAll(/\r\n|\r|\n/g)) {
    starts.push(index + breaks.length);
  }
  const placeOf = (offset: number): { line: number; column: number } => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return { line: low, column: offset - (starts[low] ?? 0) };
  };
  return (from, to) => {
    const start = placeOf(from);
    const end = placeOf(to);
    return { startLine: start.line, startColumn: start.column, endLine: end.line, endColumn: end.column };
  };
}
