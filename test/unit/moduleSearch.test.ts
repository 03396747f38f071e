import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  filesRunBy,
  findModule,
  foldersOfPthFile,
  gymRootOf,
  type Probe,
  workspaceFolders,
} from '../../src/gym/moduleSearch';

const among =
  (...files: string[]): Probe =>
  (path) =>
    files.includes(path);

const absolute = (module: string) => ({ module, level: 0 });

describe('where a module is found', () => {
  test('in the first folder that has it, and a package before a module of its name', () => {
    const probe = among('/one/a/__init__.py', '/one/a.py', '/two/a.py', '/two/b.py');
    assert.deepEqual(findModule(absolute('a'), '/x.py', ['/one', '/two'], probe), {
      kind: 'module',
      file: '/one/a/__init__.py',
      folders: ['/one/a'],
    });
    assert.deepEqual(findModule(absolute('b'), '/x.py', ['/one', '/two'], probe), {
      kind: 'module',
      file: '/two/b.py',
      folders: [],
    });
  });

  test('in a package that is spread over folders and has no __init__.py', () => {
    const probe = among('/one/p/a.py', '/two/p/q/b.py');
    const find = (module: string) => findModule(absolute(module), '/x.py', ['/one', '/two'], probe);
    assert.deepEqual(find('p.a'), { kind: 'module', file: '/one/p/a.py', folders: [] });
    assert.deepEqual(find('p.q.b'), { kind: 'module', file: '/two/p/q/b.py', folders: [] });
  });

  test('a package with __init__.py hides the folders of its name, a module has no submodules', () => {
    const probe = among('/one/p/a.py', '/two/p/__init__.py', '/two/m.py', '/two/m/a.py');
    assert.deepEqual(
      findModule(absolute('p.a'), '/x.py', ['/one', '/two'], probe),
      { kind: 'module', file: undefined, folders: ['/two/p/a'] },
      'only a folder that is not there is left',
    );
    assert.deepEqual(findModule(absolute('m.a'), '/x.py', ['/two'], probe), { kind: 'missing' });
  });

  test('relative to the file, whatever the folders are', () => {
    const probe = among('/p/__init__.py', '/p/a.py', '/p/q/__init__.py', '/p/q/b.py');
    const find = (module: string, level: number) => findModule({ module, level }, '/p/q/c.py', ['/other'], probe);
    assert.deepEqual(find('b', 1), { kind: 'module', file: '/p/q/b.py', folders: [] });
    assert.deepEqual(find('a', 2), { kind: 'module', file: '/p/a.py', folders: [] });
    assert.deepEqual(find('', 2), { kind: 'module', file: '/p/__init__.py', folders: ['/p'] });
  });

  test('all that is not known of one step is asked for at once', () => {
    const asked: string[] = [];
    const found = findModule(absolute('a'), '/x.py', ['/one', '/two'], (path) => {
      asked.push(path);
      return undefined;
    });
    assert.deepEqual(found, { kind: 'unknown' });
    assert.deepEqual(asked.sort(), ['/one/a.py', '/one/a/__init__.py', '/two/a.py', '/two/a/__init__.py']);
  });
});

test('an import runs the packages around the module too', () => {
  const probe = among('/w/p/__init__.py', '/w/p/q/__init__.py', '/w/p/q/m.py');
  const expected = ['/w/p/__init__.py', '/w/p/q/__init__.py', '/w/p/q/m.py'];
  assert.deepEqual(filesRunBy(absolute('p.q.m'), '/x.py', ['/w'], probe), expected);
  assert.deepEqual(filesRunBy({ module: 'q.m', level: 1 }, '/w/p/a.py', [], probe), expected);
});

describe('the folders of a workspace', () => {
  test("a server's own folder first, then its Gym checkout, then the roots", () => {
    assert.deepEqual(workspaceFolders('/w/Gym/resources_servers/math/app.py', ['/other', '/w']), [
      '/w/Gym/resources_servers/math',
      '/w/Gym',
      '/w',
      '/other',
    ]);
  });

  test('a part of a server is looked up in the folder of the server too, which Gym starts it from', () => {
    assert.deepEqual(workspaceFolders('/w/responses_api_agents/coder/tools/shell.py', ['/w']), [
      '/w/responses_api_agents/coder/tools',
      '/w/responses_api_agents/coder',
      '/w',
    ]);
  });

  test('the checkout is the folder around that of a kind', () => {
    assert.equal(gymRootOf('/w/Gym/resources_servers/math/app.py'), '/w/Gym');
    assert.equal(gymRootOf('/w/scripts/tool.py'), undefined);
  });
});

test('the folders of a .pth file are its lines, but for comments and programs', () => {
  const text = '# a comment\n/src/project\r\nimport site; site.main()\n\n../sibling\n';
  assert.deepEqual(foldersOfPthFile(text, '/env/site-packages'), ['/src/project', '/env/sibling']);
});
