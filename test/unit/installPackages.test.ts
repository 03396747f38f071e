import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findInstaller, installPackages } from '../../src/python/installPackages';
import { emptyEnvironment } from '../support/pythonEnvironments';

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'install-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** A program that writes down how it was called. */
async function makeProgram(folder: string, name: string, script = ''): Promise<string> {
  const path = join(folder, name);
  const log = join(folder, 'calls');
  await writeFile(
    path,
    `#!/bin/sh\necho "$0 $* [$PIP_USER$PIP_TARGET$PYTHONDONTWRITEBYTECODE]" >> '${log}'\n${script}\n`,
    {
      mode: 0o755,
    },
  );
  return path;
}

const calls = async (folder: string): Promise<string[]> =>
  (await readFile(join(folder, 'calls'), 'utf8')).trimEnd().split('\n');

const quiet = { onStage: () => undefined, onLine: () => undefined };

test("an environment's own pip comes first, then uv, then the pip that Python brings", async (t) => {
  const folder = await makeFolder(t);
  const without = { ...emptyEnvironment, pip: false };
  assert.deepEqual(await findInstaller(without, folder), { kind: 'ensurepip' });
  const program = await makeProgram(folder, 'uv');
  assert.deepEqual(await findInstaller(without, folder), { kind: 'uv', program });
  assert.deepEqual(await findInstaller(emptyEnvironment, folder), { kind: 'pip' });
  await assert.rejects(
    findInstaller({ ...without, ensurepip: false }, ''),
    /has no pip, this Python cannot make one, and uv is not on the PATH/,
  );
});

test('pip is called by the interpreter, and nothing of the shell leads it elsewhere', async (t) => {
  const folder = await makeFolder(t);
  const python = await makeProgram(folder, 'python');
  process.env.PIP_TARGET = '/elsewhere';
  process.env.PYTHONDONTWRITEBYTECODE = '1';
  t.after(() => {
    delete process.env.PIP_TARGET;
    delete process.env.PYTHONDONTWRITEBYTECODE;
  });
  await installPackages({ ...emptyEnvironment, executable: python }, { kind: 'pip' }, ['ray[default]'], quiet);
  assert.deepEqual(await calls(folder), [
    `${python} -m pip install --compile --disable-pip-version-check --no-input ray[default] [0]`,
  ]);
});

test('uv is told the interpreter', async (t) => {
  const folder = await makeFolder(t);
  const program = await makeProgram(folder, 'uv');
  await installPackages(emptyEnvironment, { kind: 'uv', program }, ['a', 'b'], quiet);
  assert.match((await calls(folder))[0] ?? '', / pip install --python \/env\/bin\/python --compile-bytecode a b /);
});

test('without pip, a failure of ensurepip is the end', async (t) => {
  const folder = await makeFolder(t);
  const python = await makeProgram(folder, 'python', 'echo "error: no room" >&2; exit 1');
  const installing = installPackages({ ...emptyEnvironment, executable: python }, { kind: 'ensurepip' }, ['a'], quiet);
  await assert.rejects(installing, /^UserError: Installing pip failed\. No room\.$/);
  assert.equal((await calls(folder)).length, 1);
});

test('what it says reaches the log and the stage, without the password of an index', async (t) => {
  const folder = await makeFolder(t);
  const python = await makeProgram(folder, 'python', 'echo "Looking in https://me:s3cr3t@index.example"; echo');
  const lines: string[] = [];
  const stages: string[] = [];
  await installPackages({ ...emptyEnvironment, executable: python }, { kind: 'pip' }, ['a'], {
    onLine: (line) => lines.push(line),
    onStage: (stage) => stages.push(stage),
  });
  assert.deepEqual(lines.slice(1), ['Looking in https://****@index.example']);
  assert.deepEqual(stages, ['Looking in https://****@index.example']);
});
