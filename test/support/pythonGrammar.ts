import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before } from 'node:test';
import { createPythonParser, type PythonParser } from '../../src/python/parser';
import { projectRoot } from './projectRoot';

/** A folder with both wasm files, as the built extension has one, made from the packages. The answer removes it. */
export async function makeGrammarFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const { resolve } = createRequire(join(projectRoot, 'package.json'));
  const folder = await mkdtemp(join(tmpdir(), 'shardboard grammar é '));
  for (const file of ['web-tree-sitter/web-tree-sitter.wasm', 'tree-sitter-python/tree-sitter-python.wasm']) {
    await cp(resolve(file), join(folder, basename(file)));
  }
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A parser for the tests of one file, freed after them. Call it at the top of the file; the answer gives the parser. */
export function usePythonParser(): () => PythonParser {
  let parser: PythonParser | undefined;
  let removeGrammar: (() => Promise<void>) | undefined;
  before(async () => {
    const grammar = await makeGrammarFolder();
    removeGrammar = grammar.remove;
    parser = createPythonParser(grammar.folder);
  });
  after(async () => {
    parser?.dispose();
    await removeGrammar?.();
  });
  return () => {
    if (!parser) {
      throw new Error('The parser is there only while tests run.');
    }
    return parser;
  };
}
