import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node } from 'web-tree-sitter';
import {
  applyChanges,
  declareFlag,
  dropAnnotation,
  keepLastDeclaration,
  type TextChange,
} from '../../src/gym/flagEdits';
import { readServers } from '../../src/gym/readServers';
import { withTree } from '../../src/python/parser';
import type { SourceRange } from '../../src/python/syntax';
import { usePythonParser } from '../support/pythonGrammar';

const parser = usePythonParser();

type Edit = (root: Node, text: string, name: SourceRange) => TextChange[] | undefined;

/** The text after the change of its first class; it must parse, and the class must say what was promised. */
async function after(text: string, edit: Edit, promised: 'on' | 'off'): Promise<string | undefined> {
  const changed = await withTree(parser(), text, (root) => {
    const [server] = readServers(root, text).classes;
    assert.ok(server);
    const changes = edit(root, text, server.nameRange);
    return changes && applyChanges(text, changes);
  });
  if (changed !== undefined) {
    const file = await withTree(parser(), changed, (root) => readServers(root, changed));
    assert.ok(file.parses, changed);
    assert.equal(file.classes[0]?.strict, promised, changed);
  }
  return changed;
}

const on: Edit = (root, text, name) => declareFlag(root, text, name, true);
const B = 'class S(SimpleServer):';

describe('a declaration is written', () => {
  const cases: Readonly<Record<string, [string, string | undefined]>> = {
    'under the first line': [`${B}\n  x = 1\n`, `${B}\n  ray_enabled = True\n  x = 1\n`],
    'with tabs and CRLF': [`${B}\r\n\tpass\r\n`, `${B}\r\n\tray_enabled = True\r\n\tpass\r\n`],
    'after a docstring': [
      `${B}\n    """Doc\n    a."""  # c\n`,
      `${B}\n    """Doc\n    a."""  # c\n    ray_enabled = True\n`,
    ],
    'after a docstring and before a statement of its line': [
      `${B}\n    "d"; x = 1\n`,
      `${B}\n    "d"; ray_enabled = True; x = 1\n`,
    ],
    'in a class of one line': [`${B} pass\n`, `${B}\n    ray_enabled = True\n    pass\n`],
    'in a class of one line with a docstring, at the end of the file': [
      `${B} "d"`,
      `${B}\n    "d"\n    ray_enabled = True`,
    ],
    'after a comment': [`${B}\n    # c\n    ...\n`, `${B}\n    # c\n    ray_enabled = True\n    ...\n`],
    'below a header of several lines': [
      'class S(\n    SimpleServer,\n):\n    x = "😀"\n',
      'class S(\n    SimpleServer,\n):\n    ray_enabled = True\n    x = "😀"\n',
    ],
    'before a decorated method': [
      `@d\n${B}\n    @e\n    def f(): pass\n`,
      `@d\n${B}\n    ray_enabled = True\n    @e\n    def f(): pass\n`,
    ],
    'in place of the value that is there': [`${B}\n    ray_enabled = f(\n    1)\n`, `${B}\n    ray_enabled = True\n`],
    'behind an annotation without a value': [
      `${B}\n    ray_enabled: ClassVar[bool]\n`,
      `${B}\n    ray_enabled: ClassVar[bool] = True\n`,
    ],
    'not where a condition decides': [`${B}\n    if x:\n        ray_enabled = False\n`, undefined],
    'beside a method, a keyword and a nested class that only use the same word': [
      `${B}\n    x = f(ray_enabled=1)\n    def g(self):\n        self.ray_enabled = y.ray_enabled\n    class T:\n        ray_enabled = 1\n`,
      `${B}\n    ray_enabled = True\n    x = f(ray_enabled=1)\n    def g(self):\n        self.ray_enabled = y.ray_enabled\n    class T:\n        ray_enabled = 1\n`,
    ],
    'in the place of what is deleted again': [
      `${B}\n    ray_enabled = False\n    x = 1\n    del ray_enabled  # c\n    y = 2\n`,
      `${B}\n    ray_enabled = True\n    x = 1\n    y = 2\n`,
    ],
    'not where it is deleted in a line with something else': [
      `${B}\n    ray_enabled = x = False\n    del ray_enabled, x\n`,
      undefined,
    ],
    'not where the name is that of the module': [`${B}\n    global ray_enabled\n    ray_enabled = False\n`, undefined],
    'not where the body would then read it': [`${B}\n    x = ray_enabled\n`, undefined],
    'not where something below it decides': [
      `${B}\n    ray_enabled = False\n    if x:\n        ray_enabled = False\n`,
      undefined,
    ],
    'not into a chain': [`${B}\n    ray_enabled = other = False\n`, undefined],
  };
  for (const [name, [before, expected]] of Object.entries(cases)) {
    test(name, async () => assert.equal(await after(before, on, 'on'), expected));
  }
});

test('the last of two declarations is kept, with the ends of its lines', async () => {
  const text = `${B}\r\n    ray_enabled = True  # c\r\n    x = 1\r\n    ray_enabled = False\r\n`;
  assert.equal(await after(text, keepLastDeclaration, 'off'), `${B}\r\n    x = 1\r\n    ray_enabled = False\r\n`);
});

describe('what is kept of several declarations', () => {
  const cases: Readonly<Record<string, [string, string | undefined]>> = {
    'the last, without what deletes the one before': [
      `${B}\n    ray_enabled = True\n    del ray_enabled\n    ray_enabled = False\n`,
      `${B}\n    ray_enabled = False\n`,
    ],
    'all, where one of them is read': [
      `${B}\n    ray_enabled = True\n    x = ray_enabled\n    ray_enabled = False\n`,
      undefined,
    ],
    'all, where one of them may not be run': [
      `${B}\n    if x:\n        ray_enabled = True\n    ray_enabled = False\n`,
      undefined,
    ],
  };
  for (const [name, [before, expected]] of Object.entries(cases)) {
    test(name, async () => assert.equal(await after(before, keepLastDeclaration, 'off'), expected));
  }
});

test('an annotation is dropped', async () => {
  assert.equal(
    await after(`${B}\n    ray_enabled: bool = True\n`, dropAnnotation, 'on'),
    `${B}\n    ray_enabled = True\n`,
  );
});
