import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { chooseInterpreter, type ExtensionAnswer } from '../../src/python/chooseInterpreter';
import { emptyEnvironment } from '../support/pythonEnvironments';

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'interpreters-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** A program that answers as a Python of this version, or fails as a shim does. */
async function makePython(path: string, version?: string): Promise<string> {
  const answer = { ...emptyEnvironment, python: version, executable: path, packageFolders: [] };
  const script =
    version === undefined ? 'echo "version not installed" >&2; exit 127' : `echo '${JSON.stringify(answer)}'`;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

const nothing = async (): Promise<ExtensionAnswer> => ({ notes: [] });

test('the setting comes first, and is not passed over when it is wrong', async (t) => {
  const folder = await makeFolder(t);
  const setting = await makePython(join(folder, 'python'), '3.12.1');
  const extensions = async (): Promise<ExtensionAnswer> => assert.fail('no other place is asked');
  const found = await chooseInterpreter({ setting, extensions, folder: undefined });
  assert.deepEqual(found, { path: setting, from: 'the setting shardboard.pythonPath', notes: [] });
  await assert.rejects(
    chooseInterpreter({ setting: join(folder, 'none'), extensions, folder: undefined }),
    /There is no Python at .*none, which the setting shardboard\.pythonPath names/,
  );
});

test("then comes what a Python extension has chosen, then the workspace's .venv, then the PATH", async (t) => {
  const folder = await makeFolder(t);
  const chosen = { path: await makePython(join(folder, 'chosen'), '3.12.1'), from: 'the Python extension' };
  const venv = await makePython(join(folder, '.venv', 'bin', 'python'), '3.12.1');
  const onPath = await makePython(join(folder, 'path', 'python3'), '3.12.1');
  const places = { setting: '', extensions: nothing, folder, path: join(folder, 'path') };

  const note = 'The other one did not answer.';
  const extensions = async (): Promise<ExtensionAnswer> => ({ chosen, notes: [note] });
  assert.deepEqual(await chooseInterpreter({ ...places, extensions }), { ...chosen, notes: [note] });
  assert.deepEqual(await chooseInterpreter(places), { path: venv, from: "the workspace's .venv", notes: [] });
  // Of another folder of the workspace.
  assert.deepEqual(await chooseInterpreter({ ...places, folder: join(folder, 'other') }), {
    path: onPath,
    from: 'the PATH',
    notes: [],
  });
});

test('what a Python extension has chosen and is gone is passed over, and said', async (t) => {
  const folder = await makeFolder(t);
  const venv = await makePython(join(folder, '.venv', 'bin', 'python'), '3.12.1');
  const chosen = { path: '/gone/python', from: 'the Python extension' };
  const found = await chooseInterpreter({ setting: '', extensions: async () => ({ chosen, notes: [] }), folder });
  assert.equal(found.path, venv);
  assert.deepEqual(found.notes, ['/gone/python, from the Python extension, cannot be run.']);
});

test('on the PATH it is the first that runs and will do, else the first that runs', async (t) => {
  const folder = await makeFolder(t);
  const bin = (name: string): string => join(folder, 'bin', name);
  const places = { setting: '', extensions: nothing, folder: undefined };
  const path = ['relative', join(folder, 'none'), join(folder, 'bin')].join(delimiter);
  await assert.rejects(chooseInterpreter({ ...places, path }), /No Python was found/);
  await makePython(bin('python'), '3.14.0');
  assert.equal((await chooseInterpreter({ ...places, path })).path, bin('python'));
  await makePython(bin('python3'), '3.11.7');
  assert.equal((await chooseInterpreter({ ...places, path })).path, bin('python3'));
  await makePython(bin('python3.12'), '3.12.1');
  assert.equal((await chooseInterpreter({ ...places, path })).path, bin('python3.12'));
  await makePython(bin('python3.13'));
  assert.equal((await chooseInterpreter({ ...places, path })).path, bin('python3.12'));
});
