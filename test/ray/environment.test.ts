/** The probe on real interpreters. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { environmentProblems, probeEnvironment } from '../../src/python/environment';
import { runProcess } from '../../src/python/process';
import { testPython } from '../support/testPython';

test('finds all that a run needs in an environment that has it', async () => {
  const environment = await probeEnvironment(testPython());
  assert.match(environment.ray ?? '', /^2\./);
  assert.equal(environment.rayDefault, true);
  assert.match(environment.nemoEvaluator ?? '', /^0\.3\./);
  assert.equal(environment.scipy, true);
  assert.deepEqual(environmentProblems(environment), []);
});

test('finds nothing in an empty environment', async (t) => {
  const { python } = await makeEnvironment(t);
  const environment = await probeEnvironment(python);
  assert.equal(environment.executable, python);
  assert.equal(environment.ray, undefined);
  assert.equal(environment.nemoEvaluator, undefined);
  assert.equal(environment.scipy, false);
});

test('sees Ray without its dashboard, and does not import it', async (t) => {
  const { python, packages } = await makeEnvironment(t);
  await install(packages, 'ray', '2.60.0', {
    'ray/__init__.py': 'raise SystemExit("Ray was imported")',
    'ray/dashboard/__init__.py': '',
    'ray/dashboard/optional_deps.py': 'import aiohttp.web\nfrom opentelemetry.proto import common\n',
  });
  const bare = await probeEnvironment(python);
  assert.equal(bare.ray, '2.60.0');
  assert.equal(bare.rayDefault, false);
  assert.match(environmentProblems(bare, 'cluster').join(), /without its dashboard/);

  // In the same process: what was known is not believed after an installation.
  await install(packages, 'aiohttp', '3.14.4', { 'aiohttp/__init__.py': '', 'aiohttp/web.py': '' });
  assert.equal((await probeEnvironment(python)).rayDefault, false);
  await install(packages, 'opentelemetry-proto', '1.30.0', { 'opentelemetry/proto/__init__.py': '' });
  assert.equal((await probeEnvironment(python)).rayDefault, true);
});

/** An environment with the standard library only. */
async function makeEnvironment(t: TestContext): Promise<{ python: string; packages: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'environment-'));
  t.after(() => rm(folder, { recursive: true }));
  await runProcess(testPython(), ['-m', 'venv', '--without-pip', folder], { limitMs: 60_000 });
  const python = join(folder, 'bin', 'python');
  const where = await runProcess(python, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'], {
    limitMs: 60_000,
  });
  return { python, packages: where.stdout.trim() };
}

async function install(
  packages: string,
  name: string,
  version: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const information = `${name.replaceAll('-', '_')}-${version}.dist-info`;
  const all = { ...files, [`${information}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n` };
  for (const [path, content] of Object.entries(all)) {
    await mkdir(join(packages, path, '..'), { recursive: true });
    await writeFile(join(packages, path), content);
  }
}
