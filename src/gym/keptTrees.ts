import type { Tree } from 'web-tree-sitter';
import type { PythonParser } from '../python/parser';
import { editBetween } from '../python/textEdit';
import type { ModuleFacts } from './moduleFacts';
import { createModuleReader, type ModuleReader } from './readModule';

/** Syntax trees of texts that are being typed, so that a keystroke costs what it changes and not the whole file. */
export interface KeptTrees {
  /**
   * The facts of a text that belongs to `owner`: at once, but for the very first text of all, for which the grammar is
   * loaded.
   *
   * @throws UserError when the grammar cannot be loaded; the next call tries again
   */
  read(owner: object, text: string): ModuleFacts | Promise<ModuleFacts>;
  forget(owner: object): void;
  dispose(): void;
}

interface Kept {
  readonly tree: Tree;
  readonly text: string;
  readonly reader: ModuleReader;
}

/** As many files as are looked at in turn; a tree takes some ten times the memory of its text. */
const MOST_TREES = 8;

export function createKeptTrees(parser: PythonParser): KeptTrees {
  /** The one that was used last is at the end. */
  const kept = new Map<object, Kept>();

  const forget = (owner: object): void => {
    // No garbage collector frees what is in the grammar's memory.
    kept.get(owner)?.tree.delete();
    kept.delete(owner);
  };

  const take = (owner: object, text: string, tree: Tree, previous: Kept | undefined): ModuleFacts => {
    const reader = previous?.reader ?? createModuleReader();
    let facts: ModuleFacts;
    try {
      // The old tree has to live as long as this takes: what is read tells nodes that have stayed by their address.
      facts = reader.read(tree.rootNode, text);
    } catch (error) {
      tree.delete();
      forget(owner);
      throw error;
    }
    forget(owner);
    kept.set(owner, { tree, text, reader });
    for (const oldest of kept.keys()) {
      if (kept.size <= MOST_TREES) {
        break;
      }
      forget(oldest);
    }
    return facts;
  };

  return {
    read(owner, text) {
      const previous = kept.get(owner);
      const edit = previous ? editBetween(previous.text, text) : undefined;
      if (edit) {
        previous?.tree.edit(edit);
      }
      const tree = parser.parseNow(text, previous?.tree);
      return tree
        ? take(owner, text, tree, previous)
        : parser.parse(text).then((first) => take(owner, text, first, kept.get(owner)));
    },
    forget,
    dispose() {
      for (const owner of [...kept.keys()]) {
        forget(owner);
      }
    },
  };
}
