import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
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
