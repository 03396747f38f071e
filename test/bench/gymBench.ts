/** `npm run bench -- gym`: what reading Gym's servers costs, beside what else reads Python, on NeMo Gym's own files. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createPythonParser } from '../../src/python/parser';
import { watchGrammarMemory } from '../support/grammarMemory';
import { makeGrammarFolder } from '../support/pythonGrammar';
import { testPython } from '../support/testPython';
import { benchIndexing } from './indexing';
import { benchTyping } from './typing';

const grammarMemory = watchGrammarMemory();

async function main(): Promise<void> {
  const wheel = process.env.SHARDBOARD_BENCH_GYM;
  if (!wheel) {
    throw new Error('SHARDBOARD_BENCH_GYM must name the folder with the files of NeMo Gym. Run `npm run bench`.');
  }
  const grammar = await makeGrammarFolder();
  try {
    await benchIndexing(grammar.folder, wheel, testPython());
    const parser = createPythonParser(grammar.folder);
    await benchTyping(parser, await largestServer(wheel), grammarMemory);
    parser.dispose();
  } finally {
    await grammar.remove();
  }
}

async function largestServer(wheel: string): Promise<string> {
  const names = await readdir(wheel, { recursive: true });
  const servers = names.filter((name) => /(?:^|\/)app\.py$/.test(name));
  const texts = await Promise.all(servers.map((name) => readFile(join(wheel, name), 'utf8')));
  return texts.reduce((largest, text) => (text.length > largest.length ? text : largest), '');
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
