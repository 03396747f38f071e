import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSilencing } from '../../src/gym/silencing';
import { withTree } from '../../src/python/parser';
import { usePythonParser } from '../support/pythonGrammar';

const parser = usePythonParser();

const cases: Readonly<Record<string, [string, boolean]>> = {
  'no comment': ['x = 1', false],
  'all, on the line': ['x = 1  # shardboard: ignore', true],
  'the code, on the line': ['x = 1  # shardboard: ignore[other, the-code]', true],
  'another code': ['x = 1  # shardboard: ignore[other]', false],
  'behind another comment': ['x = 1  # noqa  # shardboard: ignore[the-code]', true],
  'a longer word': ['x = 1  # shardboard: ignored', false],
  'in a string': ['x = "# shardboard: ignore"', false],
  'alone on the line above': ['# shardboard: ignore\r\nx = 1', true],
  'alone above another one': ['# shardboard: ignore[the-code]\n# shardboard: ignore[other]\nx = 1', true],
  'alone below another one': ['# shardboard: ignore[other]\n# shardboard: ignore[the-code]\nx = 1', true],
  'alone above another comment': ['  # shardboard: ignore[the-code]\n  # because of this\nx = 1', true],
  'alone above a comment and a blank line': ['# shardboard: ignore\n# because of this\n\nx = 1', false],
  'behind another one': ['x = 1  # shardboard: ignore[other]  # shardboard: ignore[the-code]', true],
  'behind code on the line above': ['y = 1  # shardboard: ignore\nx = 1', false],
  'two lines above': ['# shardboard: ignore\n\nx = 1', false],
  'the file': ['#!/usr/bin/python\n"""Doc."""\n# shardboard: ignore-file[the-code]\ny = 1\nx = 1', true],
  'the file, another code': ['# shardboard: ignore-file[other]\nx = 1', false],
  'the file, not at the top': ['y = 1\n# shardboard: ignore-file\nx = 1', false],
};

for (const [name, [text, expected]] of Object.entries(cases)) {
  test(name, async () => {
    const line = text.split('\n').findIndex((content) => content.startsWith('x'));
    const range = { startLine: line, startColumn: 0, endLine: line, endColumn: 1 };
    const isSilenced = await withTree(parser(), text, (root) => readSilencing(root, text));
    assert.equal(isSilenced({ code: 'the-code', range }), expected);
  });
}
