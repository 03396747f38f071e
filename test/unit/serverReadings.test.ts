import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createFactsReader } from '../../src/gym/readFacts';
import type { ServerFile } from '../../src/gym/serverFile';
import { createServerIndex } from '../../src/gym/serverIndex';
import { createServerReadings } from '../../src/gym/serverReadings';
import { memoryFiles } from '../support/memoryFiles';
import { usePythonParser } from '../support/pythonGrammar';

const parser = usePythonParser();

const BASE =
  'from nemo_gym.base_resources_server import SimpleResourcesServer\nclass Base(SimpleResourcesServer):\n    ray_enabled = True\n';
const SERVER = 'from base import Base\nclass Server(Base):\n    pass\n\n\nServer.run_webserver()\n';

/** An open document of `/w/app.py`, and its readings. */
function open(files: Record<string, string>) {
  const contents = new Map(Object.entries({ '/w/app.py': SERVER, ...files }));
  const index = createServerIndex({
    files: memoryFiles(contents),
    read: createFactsReader(parser()),
    roots: () => ['/w'],
    installed: () => [],
    onError: (message) => assert.fail(message),
  });
  const readings = createServerReadings(parser(), index);
  const document = { version: 1, uri: { path: '/w/app.py' }, text: SERVER, getText: () => document.text };
  return {
    contents,
    index,
    document,
    read: () => readings.read(document),
    readAgain: () => readings.readAgain(document),
    close: () => readings.close(document),
    type(text: string) {
      document.version++;
      document.text = text;
    },
  };
}

const treeOf = (file: ServerFile | undefined): string | undefined => file?.classes[0]?.tree.value;

describe('a base in another file', () => {
  test('is never missing before it has been looked for, and then is there at once', async () => {
    const { read, type } = open({ '/w/base.py': BASE });
    const first = read();
    assert.ok(first instanceof Promise);
    assert.equal(treeOf(await first), 'on');
    type(SERVER.replace('pass', 'x = 1'));
    const second = read();
    assert.ok(!(second instanceof Promise));
    assert.equal(treeOf(second), 'on');
  });

  test('that is missing is told at once after it has been looked for', async () => {
    const { read, type } = open({});
    assert.equal(treeOf(await read()), 'unknown');
    type(SERVER.replace('pass', 'x = 1'));
    const second = read();
    assert.ok(!(second instanceof Promise));
    assert.equal(treeOf(second), 'unknown');
  });

  test('that has to be read anew is not missing meanwhile', async () => {
    const { contents, index, read } = open({ '/w/base.py': BASE });
    await read();
    contents.set('/w/base.py', BASE.replace('True', 'False'));
    index.update(['/w/base.py']);
    const again = read();
    assert.ok(again instanceof Promise);
    assert.equal(treeOf(await again), 'off');
  });

  test('is of no interest when the document has been closed before it was read', async () => {
    const { index, read, close } = open({ '/w/base.py': BASE });
    const reading = read();
    close();
    assert.equal(await reading, undefined);
    index.dispose();
  });
});

describe('a text that has changed where nobody looks', () => {
  const says = (value: string): string => SERVER.replace('pass', `ray_enabled = ${value}`);

  test('counts for the index when it is read again', async () => {
    const { index, read, readAgain, type } = open({ '/w/base.py': BASE });
    type(says('True'));
    await read();
    type(says('False'));
    await readAgain();
    assert.equal(treeOf(await index.read('/w/app.py')), 'off');
  });

  test('is left alone when it was never read', async () => {
    const { index, readAgain, type } = open({ '/w/base.py': BASE, '/w/app.py': says('False') });
    type(says('True'));
    await readAgain();
    assert.equal(treeOf(await index.read('/w/app.py')), 'off');
  });
});
