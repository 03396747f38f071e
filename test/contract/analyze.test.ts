/** The command line against the corpus: every field that `expected.json` has, as a script of somebody's CI would read it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { projectRoot } from '../support/projectRoot';

const corpus = join(projectRoot, 'test', 'fixtures', 'gym');

const Line = v.looseObject({
  file: v.string(),
  classes: v.optional(v.array(v.looseObject({ name: v.string() })), []),
  entrypoint: v.looseObject({ strictOpen: v.optional(v.boolean()) }),
});
type Line = v.InferOutput<typeof Line>;

/** What a case says about the file's story or about our words, and not about the file. */
const NOT_COMPARED = new Set(['note', 'runtime', 'say', 'classes', 'entrypoint']);

const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [join('scripts', 'analyze.mjs'), ...args], {
    cwd: projectRoot,
    env: { ...process.env, INIT_CWD: projectRoot },
  });

function linesOf(stdout: string): Line[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => v.parse(Line, JSON.parse(line)));
}

/** Only the fields that are expected; where the published rules leave the strict reading open, either is right. */
function chosen(got: Record<string, unknown>, expected: Record<string, unknown>, isOpen: boolean): unknown[] {
  const keys = Object.keys(expected).filter((key) => !NOT_COMPARED.has(key) && !(isOpen && key === 'strict'));
  return [
    Object.fromEntries(keys.map((key) => [key, got[key]])),
    Object.fromEntries(keys.map((key) => [key, expected[key]])),
  ];
}

test('says of every case what is right', async () => {
  const { stdout, stderr } = await run('--root', corpus, corpus);
  assert.equal(stderr, '');
  const lines = new Map(linesOf(stdout).map((line) => [line.file, line]));
  const { cases } = v.parse(
    v.object({ cases: v.array(Line) }),
    JSON.parse(await readFile(join(corpus, 'expected.json'), 'utf8')),
  );
  assert.equal(cases.length, 57);
  for (const expected of cases.filter((one) => !('tolerant' in one))) {
    const line = lines.get(expected.file);
    assert.ok(line, expected.file);
    const isOpen = expected.entrypoint.strictOpen === true;
    assert.deepEqual(...two(chosen(line, expected, false)), expected.file);
    assert.deepEqual(...two(chosen(line.entrypoint, expected.entrypoint, isOpen)), expected.file);
    assert.equal(line.classes.length, expected.classes.length, expected.file);
    for (const [index, server] of expected.classes.entries()) {
      assert.deepEqual(...two(chosen(line.classes[index] ?? {}, server, isOpen)), `${expected.file} ${server.name}`);
    }
  }
});

const two = ([got, expected]: unknown[]): [unknown, unknown] => [got, expected];

test('a file that cannot be read is told on stderr, and the others are printed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'analyze-'));
  try {
    await writeFile(join(folder, 'app.py'), 'class S(SimpleServer):\n    ray_enabled = True\n');
    const failed = await run('--root', folder, join(folder, 'absent.py'), join(folder, 'app.py')).then(
      () => assert.fail('it ended with 0'),
      (error: unknown) => v.parse(v.object({ code: v.number(), stdout: v.string(), stderr: v.string() }), error),
    );
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /absent\.py/);
    assert.deepEqual(
      linesOf(failed.stdout).map(({ file }) => file),
      ['app.py'],
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
