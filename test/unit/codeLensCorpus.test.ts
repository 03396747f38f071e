/** The words above the classes of the corpus, beside what its answers ask for. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import * as v from 'valibot';
import { describeLenses } from '../../src/editor/lensDescriptions';
import type { FollowReference } from '../../src/gym/followReference';
import type { ModuleFacts } from '../../src/gym/moduleFacts';
import { readServerFile } from '../../src/gym/readings';
import { readModule } from '../../src/gym/readModule';
import { withinTheFile } from '../../src/gym/references';
import type { ServerFile } from '../../src/gym/serverFile';
import { withTree } from '../../src/python/parser';
import { projectRoot } from '../support/projectRoot';
import { usePythonParser } from '../support/pythonGrammar';

const corpus = join(projectRoot, 'test', 'fixtures', 'gym');
const Lens = v.picklist(['on', 'off', 'undeclared', 'not-literal', 'on-inherited', 'off-inherited']);
const { cases } = v.parse(
  v.object({
    cases: v.array(
      v.object({
        file: v.string(),
        classes: v.optional(v.array(v.object({ line: v.number(), col: v.number(), lens: Lens, started: v.boolean() }))),
      }),
    ),
  }),
  JSON.parse(readFileSync(join(corpus, 'expected.json'), 'utf8')),
);

const wording: Readonly<Record<v.InferOutput<typeof Lens>, RegExp>> = {
  on: /^Ray: on\b(?!, from)/,
  off: /^Ray: off\b(?!, from)/,
  undeclared: /^Ray: not declared/,
  'not-literal': /^Ray: not a plain True or False/,
  'on-inherited': /^Ray: on, from (Base|Right)\b/,
  'off-inherited': /^Ray: off, from (Mid|Root)\b/,
};

const parser = usePythonParser();

for (const { file, classes } of cases) {
  test(file, async () => {
    const lenses = describeLenses(await read(file), 'none');
    for (const { range, title, tooltip } of lenses) {
      assert.ok(title.length <= 80, `too long for a line: ${title}`);
      assert.ok(range.endColumn > range.startColumn && (tooltip ?? 'x') !== '');
    }
    if (!classes) {
      return;
    }
    const said = lenses.filter(({ title }) => title.startsWith('Ray: '));
    assert.equal(said.length, classes.length);
    for (const [index, { line, col, lens, started }] of classes.entries()) {
      assert.match(said[index]?.title ?? '', wording[lens]);
      assert.deepEqual([said[index]?.range.startLine, said[index]?.range.startColumn], [line, col]);
      const others = lenses.filter(({ range }) => range.startLine === line).map(({ title }) => title);
      assert.equal(
        others.some((title) => title.startsWith('Started here')),
        started,
      );
    }
  });
}

test('a class of another file that is started has its lens on the call', async () => {
  const [lens] = describeLenses(await read('imported_class/app.py'), 'none');
  assert.equal(lens?.title, 'Starts RealServer: Ray off, from servers.py, not read by the supervisor');
  assert.equal(lens.range.startLine, 4);
});

async function factsOf(path: string): Promise<ModuleFacts> {
  const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  return withTree(parser(), text, (root) => readModule(root, text));
}

/** Reads a file with the imports from its own folder, which is as far as the corpus goes. */
async function read(file: string): Promise<ServerFile> {
  const path = join(corpus, file);
  const facts = await factsOf(path);
  const others = new Map<string, ModuleFacts>();
  for (const { module } of facts.importedModules) {
    const other = join(dirname(path), `${module}.py`);
    if (existsSync(other)) {
      others.set(other, await factsOf(other));
    }
  }
  const follow: FollowReference = (from, reference) => {
    const other = reference.kind === 'import' ? join(dirname(path), `${reference.module}.py`) : '';
    const found = others.get(other);
    return found && reference.kind === 'import'
      ? { file: other, facts: found, index: found.classes.findIndex(({ name }) => name === reference.path[0]) }
      : withinTheFile(from, reference);
  };
  return readServerFile(path, facts, follow);
}
