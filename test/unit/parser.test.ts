import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Edit } from 'web-tree-sitter';
import { UserError } from '../../src/common/userError';
import { createPythonParser, type PythonParser, withTree } from '../../src/python/parser';
import { importedNames, rangeOf } from '../../src/python/syntax';
import { watchGrammarMemory } from '../support/grammarMemory';
import { makeGrammarFolder } from '../support/pythonGrammar';

const memory = watchGrammarMemory();

let grammar: Awaited<ReturnType<typeof makeGrammarFolder>>;
let parser: PythonParser;

before(async () => {
  grammar = await makeGrammarFolder();
  parser = createPythonParser(grammar.folder);
});

after(async () => {
  parser.dispose();
  await grammar.remove();
});

test('a grammar that is missing is an error with the file in it, and the next parse tries again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shardboard-empty-'));
  try {
    const broken = createPythonParser(folder);
    await assert.rejects(broken.parse('x'), (error: unknown) => {
      assert.ok(error instanceof UserError);
      assert.match(error.message, /did not load: .*\.wasm.*Install the extension again\.$/);
      return true;
    });
    await cp(grammar.folder, folder, { recursive: true });
    assert.equal(await withTree(broken, 'x = 1', (root) => root.hasError), false);
    broken.dispose();
    await assert.rejects(broken.parse('x'), /closed/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('positions are UTF-16 columns, also where the text is handed over in pieces', async () => {
  // The library asks for long texts in pieces of some thousand units; an emoji must survive on every side of such a border.
  for (const before of [0, 1, 2, 4090, 5115, 5116, 5117, 5118, 5119, 5120, 5121, 10_236, 10_239, 10_240]) {
    const text = `s = "${'.'.repeat(before)}😀é${'😀'.repeat(50)}"; name = 1\n`;
    await withTree(parser, text, (root) => {
      assert.equal(root.hasError, false);
      const name = root.descendantsOfType('identifier')[1];
      assert.ok(name);
      assert.equal(name.text, 'name');
      assert.deepEqual(rangeOf(name), {
        startLine: 0,
        startColumn: text.indexOf('name'),
        endLine: 0,
        endColumn: text.indexOf('name') + 4,
      });
    });
  }
});

test('an edited tree can be given to the next parse', async () => {
  const old = await parser.parse('a = 1\nb = 2\n');
  try {
    const end = { row: 1, column: 5 };
    const change = { startIndex: 10, oldEndIndex: 11, newEndIndex: 11, oldEndPosition: end, newEndPosition: end };
    old.edit(new Edit({ ...change, startPosition: { row: 1, column: 4 } }));
    const tree = await parser.parse('a = 1\nb = 3\n', old);
    assert.equal(tree.rootNode.descendantsOfType('integer')[1]?.text, '3');
    tree.delete();
  } finally {
    old.delete();
  }
});

test('500 parses leave the memory of the grammar as it was after a few', async () => {
  const text = 'class A(B):\n    ray_enabled = True\n'.repeat(100);
  const parse = (): Promise<number> =>
    withTree(parser, text, (root) => root.descendantsOfType('class_definition').length);
  assert.equal(await parse(), 100);
  for (let count = 0; count < 10; count++) {
    await parse();
  }
  const after10 = memory();
  assert.ok(after10 > 0);
  for (let count = 0; count < 500; count++) {
    await parse();
  }
  assert.equal(memory(), after10);
});

test('what imports call things', async () => {
  const text = `
import os
import a.b.c
import d.e as f
from g import h, i as j
from . import k
from .l import m
from n import (
    o,  # a comment
    p as q,
)
try:
    from r import s
except ImportError:
    s = None
`;
  assert.deepEqual(await withTree(parser, text, (root) => Object.fromEntries(importedNames(root))), {
    os: 'os',
    a: 'a',
    f: 'd.e',
    h: 'g.h',
    j: 'g.i',
    k: '..k',
    m: '.l.m',
    o: 'n.o',
    q: 'n.p',
    s: 'r.s',
  });
});
