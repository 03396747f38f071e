import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createKeptTrees } from '../../src/gym/keptTrees';
import { readModule } from '../../src/gym/readModule';
import { createPythonParser, type PythonParser, withTree } from '../../src/python/parser';
import { watchGrammarMemory } from '../support/grammarMemory';
import { projectRoot } from '../support/projectRoot';
import { makeGrammarFolder } from '../support/pythonGrammar';
import { seededRandom } from '../support/seededRandom';

const memory = watchGrammarMemory();

let grammar: Awaited<ReturnType<typeof makeGrammarFolder>>;
let parser: PythonParser;

before(async () => {
  grammar = await makeGrammarFolder();
  parser = createPythonParser(grammar.folder);
  await withTree(parser, '', () => undefined);
});

after(async () => {
  parser.dispose();
  await grammar.remove();
});

/** Server files of every form, one after the other: what one of them breaks while it is typed in, the others feel. */
function everyForm(): string {
  const folder = join(projectRoot, 'test', 'fixtures', 'gym');
  const files = readdirSync(folder).filter((name) => name.endsWith('.py') && !name.startsWith('broken'));
  return files.map((name) => readFileSync(join(folder, name), 'utf8').replace(/^\uFEFF/, '')).join('\n');
}

/** What people type in such files, and what opens or closes more than it looks. */
const TYPED = [
  'x',
  '1',
  ' ',
  '\n',
  '    ',
  '(',
  ')',
  '"',
  '"""',
  '#',
  ':',
  ' = True',
  'ray_enabled = False\n',
  'class S(A):\n',
  '😀',
  'if x:\n',
  '\r\n',
];

test('whatever is typed, what was kept reads the same as the whole text read anew', async () => {
  const random = seededRandom(4);
  const trees = createKeptTrees(parser);
  const owner = {};
  const original = everyForm();
  let text = original;
  for (let edit = 0; edit < 400; edit++) {
    const at = Math.floor(random() * text.length);
    const removed = random() < 0.4 ? Math.floor(random() * 12) : 0;
    const added = random() < 0.8 ? (TYPED[Math.floor(random() * TYPED.length)] ?? '') : '';
    // A text that is broken all over says nothing: begin again.
    text = edit % 8 === 0 ? original : text;
    text = text.slice(0, at) + added + text.slice(at + removed);
    const kept = await trees.read(owner, text);
    assert.deepEqual(kept, await withTree(parser, text, (root) => readModule(root, text)), `edit ${edit}`);
  }
  trees.dispose();
});

test('typing takes no more memory the longer it lasts', async () => {
  const trees = createKeptTrees(parser);
  const owner = {};
  const text = everyForm();
  const at = text.indexOf('= True') + 2;
  const type = async (edits: number): Promise<number> => {
    for (let edit = 0; edit < edits; edit++) {
      await trees.read(owner, `${text.slice(0, at)}x${edit}${text.slice(at)}`);
    }
    return memory();
  };
  const settled = await type(500);
  assert.equal(await type(4500), settled);
  trees.dispose();
});

test('trees that are not used any more are freed', async () => {
  const trees = createKeptTrees(parser);
  const text = everyForm();
  const open = async (files: number): Promise<number> => {
    for (let file = 0; file < files; file++) {
      await trees.read({}, text);
    }
    return memory();
  };
  const settled = await open(30);
  assert.equal(await open(200), settled);
  trees.dispose();
});
