import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ModuleFacts } from '../../src/gym/moduleFacts';
import { createFactsReader } from '../../src/gym/readFacts';
import { createServerIndex, type ServerIndex } from '../../src/gym/serverIndex';
import { memoryFiles } from '../support/memoryFiles';
import { usePythonParser } from '../support/pythonGrammar';

const parser = usePythonParser();

const GYM = 'from nemo_gym.base_resources_server import SimpleResourcesServer\n';
const BASE = `${GYM}class Base(SimpleResourcesServer):\n    ray_enabled = True\n`;
const SERVER = 'from base import Base\nclass Server(Base):\n    pass\n\n\nServer.run_webserver()\n';

interface Workspace {
  readonly index: ServerIndex;
  readonly contents: Map<string, string>;
  /** How many files have been parsed. */
  parses(): number;
  /** Resolves when the index has told of a change after which this holds. */
  until(holds: () => boolean): Promise<void>;
  facts(text: string): Promise<ModuleFacts>;
}

function workspace(files: Record<string, string>, roots = ['/w']): Workspace {
  const contents = new Map(Object.entries(files));
  const read = createFactsReader(parser());
  let parses = 0;
  const index = createServerIndex({
    files: memoryFiles(contents),
    read: (bytes) => {
      parses++;
      return read(bytes);
    },
    roots: () => roots,
    installed: () => [],
    onError: (message) => assert.fail(message),
  });
  return {
    index,
    contents,
    parses: () => parses,
    until: (holds) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (holds()) {
            subscription.dispose();
            resolve();
          }
        };
        const subscription = index.onDidChange(check);
        check();
      }),
    facts: (text) => read(Buffer.from(text)),
  };
}

const treeOf = ({ index }: Workspace, path = '/w/app.py'): string | undefined =>
  index
    .files()
    .get(path)
    ?.classes.find(({ name }) => name === 'Server')?.tree.value;

describe('the build', () => {
  test('finds servers and parses nothing else', async () => {
    const here = workspace({
      '/w/app.py': SERVER,
      '/w/base.py': BASE,
      '/w/plain.py': 'class Server(Other): pass\nimport os\n',
      '/w/tests/helper.py': '# about nemo_gym\nclass Helper(dict): pass\n',
    });
    await here.index.build();
    assert.deepEqual([...here.index.files().keys()].sort(), ['/w/app.py', '/w/base.py']);
    assert.equal(treeOf(here), 'on');
    assert.equal(here.parses(), 2);
    assert.equal(here.index.isComplete(), true);
  });

  test('finds a server that only its base gives away, and one that has that one for a base', async () => {
    const here = workspace({
      '/w/base.py': BASE,
      '/w/more.py': 'from base import Base\nclass More(Base): pass\n',
      '/w/most.py': 'import more\nclass Most(more.More): pass\n',
      '/w/late.py': 'from most import Most as M\nclass Late(\n    M,\n    metaclass=Meta,\n): pass\n',
    });
    await here.index.build();
    const trees = [...here.index.files()].map(([path, { classes }]) => `${path} ${classes[0]?.tree.value}`);
    assert.deepEqual(trees.sort(), ['/w/base.py on', '/w/late.py on', '/w/more.py on', '/w/most.py on']);
  });

  test('finds names that are written in other letters', async () => {
    const here = workspace({
      '/w/wide.py': 'class Server(SimpleServer):\n    ｒａｙ＿ｅｎａｂｌｅｄ = True\n',
      '/w/base.py': 'class Ｓｅｒｖｅｒ(𝐒impleServer): pass\n',
    });
    await here.index.build();
    assert.deepEqual([...here.index.files().keys()].sort(), ['/w/base.py', '/w/wide.py']);
  });

  test('that is called off can be asked for again', async () => {
    const here = workspace({ '/w/base.py': BASE });
    const off = new AbortController();
    off.abort();
    await here.index.build(off.signal);
    assert.equal(here.index.isComplete(), false);
    await here.index.build();
    assert.equal(here.index.files().size, 1);
  });

  test('is not stopped by a file that cannot be read', async () => {
    const errors: string[] = [];
    const read = createFactsReader(parser());
    const index = createServerIndex({
      files: memoryFiles(
        new Map([
          ['/w/a.py', 'ray_enabled = 1'],
          ['/w/b.py', BASE],
        ]),
      ),
      read: (bytes) => (bytes.length < 20 ? Promise.reject(new Error('broken')) : read(bytes)),
      roots: () => ['/w'],
      installed: () => [],
      onError: (message) => errors.push(message),
    });
    await index.build();
    assert.deepEqual([...index.files().keys()], ['/w/b.py']);
    assert.deepEqual(errors, ['/w/a.py: broken']);
  });
});

describe('changes', () => {
  test('of a base reach what comes from it', async () => {
    const here = workspace({ '/w/app.py': SERVER, '/w/base.py': BASE });
    await here.index.build();
    here.contents.set('/w/base.py', BASE.replace('True', 'False'));
    here.index.update(['/w/base.py']);
    await here.until(() => treeOf(here) === 'off');
    here.contents.delete('/w/base.py');
    here.index.update(['/w/base.py']);
    await here.until(() => treeOf(here) === 'unknown');
    assert.equal(here.index.files().has('/w/base.py'), false);
    here.contents.set('/w/base.py', BASE);
    here.index.update(['/w/base.py']);
    await here.until(() => treeOf(here) === 'on');
  });

  test('bring a file that was not there and holds no server itself', async () => {
    const here = workspace({ '/w/app.py': SERVER.replace('from base', 'from passes_on'), '/w/base.py': BASE });
    await here.index.build();
    assert.notEqual(treeOf(here), 'on');
    here.contents.set('/w/passes_on.py', 'from base import Base\n');
    here.index.update(['/w/passes_on.py']);
    await here.until(() => treeOf(here) === 'on');
  });

  test('that take the server out of a file take the file out of the index', async () => {
    const here = workspace({ '/w/base.py': BASE });
    await here.index.build();
    here.contents.set('/w/base.py', 'x = 1\n');
    here.index.update(['/w/base.py']);
    await here.until(() => here.index.files().size === 0);
  });

  test('in an editor count before the file, until it is closed', async () => {
    const here = workspace({ '/w/app.py': SERVER, '/w/base.py': BASE });
    await here.index.build();
    const typed = await here.facts(BASE.replace('True', 'False'));
    assert.equal(here.index.readDocument('/w/base.py', typed).classes[0]?.tree.value, 'off');
    await here.until(() => treeOf(here) === 'off');
    here.index.closeDocument('/w/base.py');
    await here.until(() => treeOf(here) === 'on');
  });
});

describe('an open document', () => {
  test('is read at once, and again when its imports are there', async () => {
    const here = workspace({ '/w/app.py': SERVER, '/w/base.py': BASE });
    const facts = await here.facts(SERVER);
    const first = here.index.readDocument('/w/app.py', facts);
    assert.equal(first.classes[0]?.tree.value, 'unknown');
    await here.until(() => here.index.readDocument('/w/app.py', facts).classes[0]?.tree.value === 'on');
    assert.equal(here.index.readDocument('/w/app.py', facts), here.index.readDocument('/w/app.py', facts));
  });

  test('outside of the workspace is read too', async () => {
    const here = workspace({ '/elsewhere/app.py': SERVER, '/elsewhere/base.py': BASE });
    const facts = await here.facts(SERVER);
    await here.until(() => here.index.readDocument('/elsewhere/app.py', facts).classes[0]?.tree.value === 'on');
  });

  test('of elsewhere is read, but is no server of the workspace', async () => {
    const here = workspace({ '/w/base.py': BASE, '/w/lib.py': BASE });
    await here.index.build();
    here.index.readDocument('/elsewhere/app.py', await here.facts(SERVER));
    here.index.readDocument('/w/base.py', await here.facts(BASE.replace('True', 'False')));
    await here.until(() => here.index.files().get('/w/base.py')?.classes[0]?.tree.value === 'off');
    assert.deepEqual([...here.index.files().keys()].sort(), ['/w/base.py', '/w/lib.py']);
  });

  test('may hold a server when it names a base that the index knows', async () => {
    const here = workspace({ '/w/base.py': BASE });
    const text = 'from base import Base\nclass Server(Base): pass\n';
    assert.equal(here.index.mayHoldServers(text), false);
    assert.equal(here.index.mayHoldServers(SERVER), true);
    await here.index.build();
    assert.equal(here.index.mayHoldServers(text), true);
    assert.equal(here.index.mayHoldServers('class Server(Other): pass\n'), false);
  });
});

describe('the use of Ray', () => {
  const app = `${GYM}from lib import actors\nclass Server(SimpleResourcesServer): pass\nServer.run_webserver()\n`;

  test('is found in what is imported, the nearest first', async () => {
    const here = workspace({
      '/w/app.py': app,
      '/w/lib/__init__.py': '',
      '/w/lib/actors.py': 'from . import deep\n',
      '/w/lib/deep.py': '\nimport ray\n',
    });
    const reach = await here.index.findRayUse('/w/app.py');
    assert.ok(typeof reach === 'object');
    assert.deepEqual([reach.file, reach.use.range.startLine], ['/w/lib/deep.py', 1]);
  });

  test('is not looked for in Gym, in a circle, or in what only a type checker reads', async () => {
    const here = workspace({
      '/w/app.py': app,
      '/w/nemo_gym/base_resources_server.py': 'import ray\n',
      '/w/lib/actors.py':
        'import app\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import ray\n    import users\n',
      '/w/users.py': 'import ray\n',
    });
    assert.equal(await here.index.findRayUse('/w/app.py'), 'none');
  });
});
