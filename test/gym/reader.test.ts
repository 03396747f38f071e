import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { projectRoot } from '../support/projectRoot';
import { testPython } from '../support/testPython';

const run = promisify(execFile);
const here = join(projectRoot, 'test', 'gym');
const MEGABYTES = 1024 * 1024;

/** One place where the reader does not say what Python says of a file. */
const Difference = v.object({ file: v.string(), what: v.string(), expected: v.unknown(), got: v.unknown() });
type Difference = v.InferOutput<typeof Difference>;

describe('the reader of server files says what Python says', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shardboard-gym-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('of the cases with known answers', async () => {
    assertNone(await differencesIn(join(projectRoot, 'test', 'fixtures', 'gym')));
  });

  test('of the traps we thought of, and of files made from a seed', async () => {
    const made = join(folder, 'made');
    await python('makeCases.py', '--seed', '1', '--count', '160', made);
    assertNone(await differencesIn(made));
  });

  async function differencesIn(root: string): Promise<readonly Difference[]> {
    const [reference, reader] = await Promise.all([python('reference.py', '--root', root), analyze(root)]);
    const name = join(folder, `${root.replaceAll(/\W/g, '-')}`);
    await writeFile(`${name}.reference`, reference);
    await writeFile(`${name}.reader`, reader);
    const lines = await python('differences.py', `${name}.reference`, `${name}.reader`);
    return lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => v.parse(Difference, JSON.parse(line)));
  }
});

/** Of a hundred differences the first ones say what is wrong. */
function assertNone(differences: readonly Difference[]): void {
  const shown = differences
    .slice(0, 40)
    .map(({ file, what, expected, got }) => `${file}: ${what}\n  expected ${json(expected)}\n  got      ${json(got)}`);
  assert.equal(differences.length, 0, `${differences.length} differences\n${shown.join('\n')}`);
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing';
}

async function python(program: string, ...args: readonly string[]): Promise<string> {
  // Bytecode in the folder of the sources would be found by the linters and by git.
  const { stdout } = await run(testPython(), ['-B', join(here, program), ...args], { maxBuffer: 200 * MEGABYTES });
  return stdout;
}

async function analyze(root: string): Promise<string> {
  const { stdout } = await run('npm', ['run', '--silent', 'analyze', '--', '--root', root, root], {
    cwd: projectRoot,
    maxBuffer: 200 * MEGABYTES,
  });
  return stdout;
}
