import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createFactsReader } from '../../src/gym/readFacts';
import { createServerIndex } from '../../src/gym/serverIndex';
import { memoryFiles } from '../support/memoryFiles';
import { usePythonParser } from '../support/pythonGrammar';

const parser = usePythonParser();

async function reachOf(files: Record<string, string>): Promise<string | undefined> {
  const index = createServerIndex({
    files: memoryFiles(new Map(Object.entries(files))),
    read: createFactsReader(parser()),
    roots: () => ['/w'],
    installed: () => ['/site'],
    onError: (message) => assert.fail(message),
  });
  const found = await index.findRayUse('/w/app.py');
  index.dispose();
  return typeof found === 'object' ? `${found.file}:${found.use.range.startLine} ${found.use.text}` : found;
}

describe('the use of Ray that a server reaches', () => {
  test('is its own before that of others', async () => {
    const files = { '/w/app.py': 'import helper\nimport ray\n', '/w/helper.py': 'import ray\n' };
    assert.equal(await reachOf(files), '/w/app.py:1 import ray');
  });

  test('is found through imports, of packages and in functions too', async () => {
    const files = {
      '/w/app.py': 'def late():\n    from tools import helper\n',
      '/w/tools/helper.py': 'from . import inner\n',
      '/w/tools/inner.py': 'import app\nimport ray\n',
    };
    assert.equal(await reachOf(files), '/w/tools/inner.py:1 import ray');
  });

  test('is found in what a package runs when a module of it is imported', async () => {
    const files = { '/w/app.py': 'import p.m\n', '/w/p/__init__.py': 'import ray\n', '/w/p/m.py': '' };
    assert.equal(await reachOf(files), '/w/p/__init__.py:0 import ray');
  });

  test('is none in Gym, in installed packages, in what only a type checker reads, or in a circle', async () => {
    const files = {
      '/w/app.py': [
        'import b, lib, nemo_gym.server_utils',
        'from typing import TYPE_CHECKING',
        'if TYPE_CHECKING:',
        '    import c\n',
      ].join('\n'),
      '/w/b.py': 'import app\n',
      '/w/c.py': 'import ray\n',
      '/w/nemo_gym/server_utils.py': 'import ray\n',
      '/site/lib.py': 'import ray\n',
    };
    assert.equal(await reachOf(files), 'none');
  });

  /** Imports in `/w/app.py`, and what is known then. */
  const others: Readonly<Record<string, [string, 'none' | undefined]>> = {
    'Python itself': ['import os.path\nfrom __future__ import annotations\n', 'none'],
    'an installed package': ['from lib import anything\nimport lib.sub\n', 'none'],
    'modules of a folder': ['from folder import one\n', 'none'],
    'what a package makes itself': ['from p import made_up\n', 'none'],
    'a module that is nowhere': ['import gone\n', undefined],
    'a module that is not beside the file': ['from . import gone\n', undefined],
    'a module that is not in its package': ['import p.gone\n', undefined],
    'a module that the folder does not have': ['from folder import one, gone\n', undefined],
    'a file that does not parse': ['import broken\n', undefined],
    'a file that imports what is nowhere': ['import inner\n', undefined],
    'what only running the file can tell': ['import importlib\n', undefined],
    'nothing, of what only a type checker reads': ['if TYPE_CHECKING:\n    import gone\n', 'none'],
  };
  for (const [name, [text, expected]] of Object.entries(others)) {
    test(`is ${expected ?? 'not known'}, of ${name}`, async () => {
      const files = {
        '/w/app.py': text,
        '/w/folder/one.py': '',
        '/w/p/__init__.py': '',
        '/w/broken.py': 'def (\n',
        '/w/inner.py': 'import gone\n',
        '/site/lib/__init__.py': 'import ray\n',
        '/site/lib/sub.py': '',
      };
      assert.equal(await reachOf(files), expected);
    });
  }
});
