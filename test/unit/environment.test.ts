import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { UserError } from '../../src/common/userError';
import { probeEnvironment } from '../../src/python/environment';
import { completeEnvironment as complete } from '../support/pythonEnvironments';

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'environment-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** A program in place of an interpreter. */
async function makeInterpreter(folder: string, script: string): Promise<string> {
  const path = join(folder, 'python');
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

test('asks an interpreter again only when something was installed', async (t) => {
  const folder = await makeFolder(t);
  const counter = join(folder, 'runs');
  const packages = await makeFolder(t);
  const answer = JSON.stringify({ ...complete, packageFolders: [packages] });
  const python = await makeInterpreter(folder, `echo run >> '${counter}'; echo noise; echo '${answer}'`);
  const runs = async (): Promise<number> => (await readFile(counter, 'utf8')).trim().split('\n').length;

  assert.deepEqual(await probeEnvironment(python), complete);
  assert.deepEqual(await probeEnvironment(python), complete);
  assert.equal(await runs(), 1);
  await utimes(packages, 1, 1);
  await probeEnvironment(python);
  assert.equal(await runs(), 2);
});

test('an interpreter that is not there, or not one, is explained', async (t) => {
  const folder = await makeFolder(t);
  const explained = (text: RegExp) => (error: unknown) => error instanceof UserError && text.test(error.message);
  await assert.rejects(probeEnvironment(join(folder, 'none')), explained(/There is no Python at/));
  const shim = await makeInterpreter(folder, 'echo "pyenv: version 3.12 is not installed" >&2; exit 127');
  await assert.rejects(probeEnvironment(shim), explained(/pyenv: version 3\.12 is not installed/));
});

test('a probe can be called off, and takes its children along', async (t) => {
  const folder = await makeFolder(t);
  const started = join(folder, 'started');
  // The child holds the output open: without its end, the probe would not come back.
  const python = await makeInterpreter(folder, `sleep 1000 & touch '${started}'; wait`);
  const stop = new AbortController();
  const probing = probeEnvironment(python, { signal: stop.signal });
  while (!existsSync(started)) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  stop.abort();
  await assert.rejects(probing, { name: 'AbortError' });
});
