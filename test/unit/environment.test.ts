import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { UserError } from '../../src/common/userError';
import { environmentProblems, type PythonEnvironment, probeEnvironment } from '../../src/python/environment';

const complete: PythonEnvironment = {
  python: '3.12.1',
  executable: '/env/bin/python',
  ray: '2.60.0',
  rayDefault: true,
  nemoEvaluator: '0.3.0',
  scipy: true,
};

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

test('a complete environment has no problems', () => {
  assert.deepEqual(environmentProblems(complete), []);
  assert.deepEqual(environmentProblems({ ...complete, python: '3.13.0' }), []);
});

const problems: readonly [name: string, change: Partial<PythonEnvironment>, text: RegExp][] = [
  ['an old Python', { python: '3.11.7' }, /Python 3\.11\.7, and NeMo Evaluator needs 3\.12 or 3\.13/],
  ['a Python too new', { python: '3.14.0' }, /needs 3\.12 or 3\.13/],
  ['Ray without its dashboard', { rayDefault: false }, /without its dashboard.*"ray\[default\]==2\.60\.0"/],
  ['another evaluator', { nemoEvaluator: '0.2.8' }, /NeMo Evaluator 0\.2\.8 is installed, and 0\.3 is supported/],
  ['no scipy', { scipy: false }, /scipy is missing/],
];
for (const [name, change, text] of problems) {
  test(`${name} is a problem with a way out`, () => {
    const found = environmentProblems({ ...complete, ...change });
    assert.equal(found.length, 1);
    assert.match(found[0] ?? '', text);
  });
}

test('what only benchmarks need does not keep a cluster from starting', () => {
  const { nemoEvaluator: _, ...withoutEvaluator } = complete;
  assert.deepEqual(environmentProblems({ ...withoutEvaluator, scipy: false }, 'cluster'), []);
  assert.match(environmentProblems(withoutEvaluator).join(), /NeMo Evaluator is not installed/);
  const { ray: __, ...withoutRay } = complete;
  assert.match(environmentProblems(withoutRay, 'cluster').join(), /Ray is not installed/);
});

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
