import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Language, type Node, Parser, type Tree } from 'web-tree-sitter';
import { messageOf, UserError } from '../common/userError';

/** Turns Python source into syntax trees. The grammar is loaded by the first parse, not before. */
export interface PythonParser {
  /**
   * Parses a text. The tree lives in the grammar's own memory, which no garbage collector frees:
   * the caller calls `delete()` on it. {@link withTree} does so.
   *
   * @param previousTree the tree of the text before, told of the change with `edit()`, so that only what changed is parsed
   * @throws UserError when the grammar cannot be loaded; the next call tries again
   */
  parse(text: string, previousTree?: Tree): Promise<Tree>;
  /** The same at once; undefined as long as the grammar has not been loaded by {@link parse}. */
  parseNow(text: string, previousTree?: Tree): Tree | undefined;
  dispose(): void;
}

/** Makes a parser that finds `web-tree-sitter.wasm` and `tree-sitter-python.wasm` in the folder. */
export function createPythonParser(wasmFolder: string): PythonParser {
  let loading: Promise<Parser> | undefined;
  let loaded: Parser | undefined;
  let disposed = false;

  const load = (): Promise<Parser> => {
    loading ??= loadParser(wasmFolder).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };

  const parseWith = (parser: Parser, text: string, previousTree: Tree | undefined): Tree => {
    if (disposed) {
      throw new Error('The Python parser is closed.');
    }
    const tree = parser.parse(text, previousTree);
    if (tree === null) {
      throw new Error('The Python grammar gave no tree.');
    }
    return tree;
  };

  return {
    async parse(text, previousTree) {
      loaded = await load();
      return parseWith(loaded, text, previousTree);
    },
    parseNow: (text, previousTree) => (loaded ? parseWith(loaded, text, previousTree) : undefined),
    dispose() {
      disposed = true;
      loading?.then(
        (parser) => parser.delete(),
        () => undefined,
      );
    },
  };
}

/** Parses a text, hands the root to `read` and frees the tree. What `read` returns must not hold nodes. */
export async function withTree<T>(parser: PythonParser, text: string, read: (root: Node) => T): Promise<T> {
  const tree = await parser.parse(text);
  try {
    return read(tree.rootNode);
  } finally {
    tree.delete();
  }
}

async function loadParser(wasmFolder: string): Promise<Parser> {
  try {
    // We read both files ourselves: given a path, the library aborts on a missing file with words that name no file.
    const [library, grammar] = await Promise.all([
      readFile(join(wasmFolder, 'web-tree-sitter.wasm')),
      readFile(join(wasmFolder, 'tree-sitter-python.wasm')),
    ]);
    await Parser.init({ wasmBinary: library });
    return new Parser().setLanguage(await Language.load(grammar));
  } catch (error) {
    throw new UserError(
      `Shardboard cannot read Python files, because its Python grammar did not load: ${messageOf(error)}. Install the extension again.`,
      [],
      { cause: error },
    );
  }
}
