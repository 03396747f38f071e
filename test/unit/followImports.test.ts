import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createFactsReader } from '../../src/gym/readFacts';
import type { FlagReading } from '../../src/gym/serverFile';
import { createServerIndex } from '../../src/gym/serverIndex';
import { memoryFiles } from '../support/memoryFiles';
import { usePythonParser } from '../support/pythonGrammar';

const parser = usePythonParser();

const GYM = 'from nemo_gym.base_resources_server import SimpleResourcesServer\n';
const ON = `${GYM}class Base(SimpleResourcesServer):\n    ray_enabled = True\n`;
const OFF = ON.replace('True', 'False');
const SERVER = 'class Server(Base):\n    pass\nServer.run_webserver()\n';

/** The value of `Server` in `/w/app.py`, and where it comes from, with imports followed. */
async function treeOf(files: Record<string, string>): Promise<string> {
  const index = createServerIndex({
    files: memoryFiles(new Map(Object.entries(files))),
    read: createFactsReader(parser()),
    roots: () => ['/w'],
    installed: () => ['/site'],
    onError: (message) => assert.fail(message),
  });
  const file = await index.read('/w/app.py');
  index.dispose();
  const server = file?.classes.find(({ name }) => name === 'Server') ?? file?.startedElsewhere[0];
  assert.ok(server, 'there is no Server');
  return described(server.tree);
}

function described({ value, origin }: FlagReading): string {
  switch (origin?.kind) {
    case 'base':
      return `${value} from ${origin.file}:${origin.className}`;
    case 'unresolved':
      return `${value}, ${origin.what}`;
    default:
      return value;
  }
}

/** One line for each case: what the files are besides `/w/app.py`, and what comes of it. */
const CASES: readonly [string, Record<string, string>, string][] = [
  ['a name', { '/w/app.py': `from base import Base\n${SERVER}`, '/w/base.py': ON }, 'on from /w/base.py:Base'],
  [
    'another name',
    { '/w/app.py': 'import base as b\nclass Server(b.Base): pass\n', '/w/base.py': ON },
    'on from /w/base.py:Base',
  ],
  [
    'a submodule as an attribute',
    { '/w/app.py': 'import p.base\nclass Server(p.base.Base): pass\n', '/w/p/__init__.py': '', '/w/p/base.py': ON },
    'on from /w/p/base.py:Base',
  ],
  [
    'a module taken from a package',
    { '/w/app.py': 'from p import base\nclass Server(base.Base): pass\n', '/w/p/base.py': ON },
    'on from /w/p/base.py:Base',
  ],
  [
    'a relative import that goes on in another file',
    {
      '/w/app.py': `from p import Base\n${SERVER}`,
      '/w/p/__init__.py': 'from .inner import Real as Base\n',
      '/w/p/inner.py': ON.replace('class Base', 'class Real'),
    },
    'on from /w/p/inner.py:Real',
  ],
  [
    'a star import, of which the later wins',
    { '/w/app.py': `from on import *\nfrom off import *\n${SERVER}`, '/w/on.py': ON, '/w/off.py': OFF },
    'off from /w/off.py:Base',
  ],
  [
    'a star import that does not export the name',
    {
      '/w/app.py': `from on import *\nfrom off import *\n${SERVER}`,
      '/w/on.py': ON,
      '/w/off.py': `__all__ = ["Other"]\n${OFF}`,
    },
    'on from /w/on.py:Base',
  ],
  [
    'a star import, which leaves names with an underscore',
    {
      '/w/app.py': 'from on import *\nclass Server(_Base): pass\nServer.run_webserver()\n',
      '/w/on.py': ON.replace('Base(', '_Base('),
    },
    'unknown, _Base',
  ],
  [
    'an alias in another file',
    {
      '/w/app.py': `from base import Base\n${SERVER}`,
      '/w/base.py': `${ON.replace('class Base', 'class Real')}Base = Real\n`,
    },
    'on from /w/base.py:Real',
  ],
  [
    'a class in a class',
    {
      '/w/app.py': 'from base import Outer\nclass Server(Outer.Inner): pass\n',
      '/w/base.py': `${GYM}class Outer:\n    class Inner(SimpleResourcesServer):\n        ray_enabled = True\n`,
    },
    'on from /w/base.py:Outer.Inner',
  ],
  [
    'a try, of which the first that is found counts',
    {
      '/w/app.py': `try:\n    from absent import Base\nexcept ImportError:\n    from base import Base\n${SERVER}`,
      '/w/base.py': ON,
    },
    'on from /w/base.py:Base',
  ],
  [
    'a try in another file',
    {
      '/w/app.py': `from either import Base\n${SERVER}`,
      '/w/either.py': 'try:\n    from off import Base\nexcept ImportError:\n    from on import Base\n',
      '/w/on.py': ON,
      '/w/off.py': OFF,
    },
    'off from /w/off.py:Base',
  ],
  [
    'an if that only running can settle',
    {
      '/w/app.py': `from either import Base\n${SERVER}`,
      '/w/either.py': 'import os\nif os.name:\n    from off import Base\nelse:\n    from on import Base\n',
      '/w/on.py': ON,
      '/w/off.py': OFF,
    },
    'unknown, either:Base',
  ],
  [
    'what only a type checker reads',
    {
      '/w/app.py': `from either import Base\n${SERVER}`,
      '/w/either.py':
        'from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from off import Base\nelse:\n    from on import Base\n',
      '/w/on.py': ON,
      '/w/off.py': OFF,
    },
    'on from /w/on.py:Base',
  ],
  [
    'imports in a circle',
    {
      '/w/app.py': `from a import Base\n${SERVER}`,
      '/w/a.py': 'from b import Base\n',
      '/w/b.py': 'from a import Base\n',
    },
    'unknown, a:Base',
  ],
  [
    'star imports in a circle',
    { '/w/app.py': `from a import *\n${SERVER}`, '/w/a.py': 'from b import *\n', '/w/b.py': 'from a import *\n' },
    'unknown, Base',
  ],
  ['a module that is missing', { '/w/app.py': `from absent import Base\n${SERVER}` }, 'unknown, absent:Base'],
  [
    'an installed package',
    { '/w/app.py': `from lib import Base\n${SERVER}`, '/site/lib/__init__.py': ON },
    'on from /site/lib/__init__.py:Base',
  ],
  [
    'the workspace before what is installed',
    { '/w/app.py': `from lib import Base\n${SERVER}`, '/site/lib.py': ON, '/w/lib.py': OFF },
    'off from /w/lib.py:Base',
  ],
  [
    "Gym's base, with no Gym installed",
    { '/w/app.py': `${GYM}class Server(SimpleResourcesServer): pass\n` },
    'not_declared',
  ],
  [
    'bases that say nothing before one that does',
    {
      '/w/app.py': `import abc, logging\nfrom typing import Generic, TypeVar\nfrom base import Base\nT = TypeVar("T")\nclass Server(abc.ABC, logging.Handler, Base, Generic[T]): pass\n`,
      '/w/base.py': ON,
    },
    'on from /w/base.py:Base',
  ],
  [
    'a class of another file that is started',
    { '/w/app.py': 'from base import Base as B\nB.run_webserver()\n', '/w/base.py': OFF },
    'off from /w/base.py:Base',
  ],
];

describe('imports are followed through', () => {
  for (const [name, files, expected] of CASES) {
    test(name, async () => {
      assert.equal(await treeOf(files), expected);
    });
  }
});
