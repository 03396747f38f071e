import type { PythonParser } from '../python/parser';
import { decodeSource } from '../python/sourceText';
import type { ModuleFacts } from './moduleFacts';
import { readModule } from './readModule';

/** Turns the bytes of a Python file into what it says. */
export type ReadFacts = (bytes: Uint8Array) => Promise<ModuleFacts>;

/** Reads here and now. What Python refuses to decode does not parse either. */
export function createFactsReader(parser: PythonParser): ReadFacts {
  return async (bytes) => {
    const { text, rejection } = decodeSource(bytes);
    const tree = parser.parseNow(text) ?? (await parser.parse(text));
    try {
      const facts = readModule(tree.rootNode, text);
      return rejection === undefined ? facts : { ...facts, parses: false };
    } finally {
      tree.delete();
    }
  };
}
