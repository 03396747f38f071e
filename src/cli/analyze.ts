/**
 * `npm run --silent analyze -- [--root DIR] PATH...`: what each Python file says about Ray, one line of JSON a file. Folders
 * are walked. Ends with 1 when a file could not be read; the others are printed all the same.
 */
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../common/userError';
import { createModuleStore } from '../gym/moduleStore';
import { createFactsReader } from '../gym/readFacts';
import { createPythonParser } from '../python/parser';
import { decodeSource } from '../python/sourceText';
import { diskFiles } from './diskFiles';
import { fileLine } from './fileLine';

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { root: { type: 'string' } } });
  if (positionals.length === 0) {
    throw new Error('Name the files or folders to analyze: npm run --silent analyze -- [--root DIR] PATH...');
  }
  // npm runs its scripts in the folder of the project; paths are told from where it was called.
  const start = process.env.INIT_CWD ?? process.cwd();
  const root = resolve(start, values.root ?? '.');
  const parser = createPythonParser(__dirname);
  let failures = 0;
  const fail = (reason: string): void => {
    failures++;
    console.error(reason);
  };
  const store = createModuleStore({
    files: diskFiles,
    read: createFactsReader(parser),
    roots: () => [root],
    installed: () => [],
    onError: fail,
  });
  for (const named of positionals) {
    for (const path of await filesOf(resolve(start, named)).catch((error: unknown) => fail(messageOf(error)) ?? [])) {
      try {
        const bytes = await readFile(path);
        const facts = await store.take(path, bytes);
        const { file } = await store.read(path, facts);
        process.stdout.write(`${JSON.stringify(fileLine(path, root, decodeSource(bytes), file, facts.classes))}\n`);
      } catch (error) {
        fail(`${path}: ${messageOf(error)}`);
      }
    }
  }
  parser.dispose();
  return failures > 0 ? 1 : 0;
}

async function filesOf(path: string): Promise<readonly string[]> {
  const about = await stat(path);
  return about.isDirectory() ? await diskFiles.list(path, new AbortController().signal) : [path];
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(messageOf(error));
    process.exitCode = 1;
  },
);
