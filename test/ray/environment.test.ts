/** The probe, installers and new environments on real interpreters. No network: what is installed lies on the disk. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { zipSync } from 'fflate';
import { UserError } from '../../src/common/userError';
import { type PythonEnvironment, probeEnvironment } from '../../src/python/environment';
import { environmentProblems } from '../../src/python/environmentProblems';
import { findInstaller, type Installer, installPackages } from '../../src/python/installPackages';
import { makeEnvironment } from '../../src/python/makeEnvironment';
import { runProcess } from '../../src/python/process';
import { isAlive } from '../support/fakeGym';
import { testPython } from '../support/testPython';

const LIMIT = { limitMs: 120_000 };
const quiet = { onStage: () => undefined, onLine: () => undefined };

test('finds all that a run needs in an environment that has it', async () => {
  const environment = await probeEnvironment(testPython());
  assert.match(environment.ray ?? '', /^2\./);
  assert.equal(environment.rayDefault, true);
  assert.match(environment.nemoEvaluator ?? '', /^0\.3\./);
  assert.equal(environment.stockLauncher, true);
  assert.equal(environment.scipy, true);
  assert.equal(environment.isVirtual, true);
  assert.equal(environment.isOrdinary, true);
  assert.deepEqual(environmentProblems(environment, 'benchmark'), []);
});

test('finds nothing in an empty environment', async (t) => {
  const { python } = await makeEmpty(t);
  const environment = await probeEnvironment(python);
  assert.equal(environment.executable, python);
  assert.equal(environment.isVirtual, true);
  assert.equal(environment.isWritable, true);
  assert.equal(environment.pip, false);
  assert.equal(environment.ray, undefined);
  assert.equal(environment.nemoEvaluator, undefined);
  assert.equal(environment.scipy, false);
});

test('sees Ray without its dashboard, and does not import it', async (t) => {
  const { python, packages } = await makeEmpty(t);
  await install(packages, 'ray', '2.60.0', {
    'ray/__init__.py': 'raise SystemExit("Ray was imported")',
    'ray/dashboard/__init__.py': '',
    'ray/dashboard/optional_deps.py': 'import aiohttp.web\nfrom opentelemetry.proto import common\n',
  });
  const bare = await probeEnvironment(python);
  assert.equal(bare.ray, '2.60.0');
  assert.equal(bare.rayDefault, false);
  assert.match(environmentProblems(bare, 'cluster')[0]?.message ?? '', /without its dashboard/);

  // In the same process: what was known is not believed after an installation.
  await install(packages, 'aiohttp', '3.14.4', { 'aiohttp/__init__.py': '', 'aiohttp/web.py': '' });
  assert.equal((await probeEnvironment(python)).rayDefault, false);
  await install(packages, 'opentelemetry-proto', '1.30.0', { 'opentelemetry/proto/__init__.py': '' });
  assert.equal((await probeEnvironment(python)).rayDefault, true);
});

test("the operating system's Python is told apart", async (t) => {
  const { folder, python, packages } = await makeEmpty(t);
  assert.equal((await probeEnvironment(python)).isManaged, false);
  // Taken for a system's own: no environment, and the mark beside its standard library.
  const library = join(folder, 'library');
  await mkdir(library);
  await writeFile(join(library, 'EXTERNALLY-MANAGED'), '[externally-managed]\n');
  await writeFile(
    join(packages, 'sitecustomize.py'),
    `import sys, sysconfig
sys.prefix = sys.base_prefix
get_path = sysconfig.get_path
sysconfig.get_path = lambda name: ${JSON.stringify(library)} if name == "stdlib" else get_path(name)
`,
  );
  const environment = await probeEnvironment(python);
  assert.equal(environment.isManaged, true);
  assert.match(environmentProblems(environment, 'cluster')[0]?.message ?? '', /belongs to the operating system/);
});

test('an editable checkout counts as installed, however it is laid out', async (t) => {
  const { folder, python } = await makeSeeded(t);
  assert.equal((await probeEnvironment(python)).nemoEvaluator, undefined);
  const evaluator = await makeCheckout(folder, 'nemo-evaluator', '0.3.0.dev7', 'finder');
  await mkdir(join(evaluator, 'nemo_evaluator', 'engine'));
  await writeFile(join(evaluator, 'nemo_evaluator', 'engine', 'ray_launcher.py'), '');
  for (const checkout of [evaluator, await makeCheckout(folder, 'nemo-gym', '0.7.1', 'path')]) {
    const done = await runProcess(python, ['-m', 'pip', 'install', '--no-index', '--editable', checkout], LIMIT);
    assert.equal(done.exitCode, 0, done.stderr);
  }
  const environment = await probeEnvironment(python);
  assert.equal(environment.nemoEvaluator, '0.3.0.dev7');
  assert.equal(environment.stockLauncher, true);
  assert.equal(environment.nemoGym, '0.7.1');
  assert.ok(!environmentProblems(environment, 'benchmark').some(({ about }) => about === 'evaluator'));
});

test('installs with pip into the environment, and what it has is known at once', async (t) => {
  const { folder, python } = await makeSeeded(t);
  const environment = await probeEnvironment(python);
  assert.deepEqual(await findInstaller(environment, ''), { kind: 'pip' });
  const stages: string[] = [];
  await installPackages(environment, { kind: 'pip' }, [await wheelOfScipy(folder)], {
    ...quiet,
    onStage: (stage) => stages.push(stage),
  });
  assert.equal((await probeEnvironment(python)).scipy, true);
  assert.ok(
    stages.some((stage) => stage.startsWith('Successfully installed scipy')),
    stages.join('\n'),
  );
});

test('without uv, pip is put into it first', async (t) => {
  const { folder, python } = await makeEmpty(t);
  const environment = await probeEnvironment(python);
  const installer = await findInstaller(environment, '');
  assert.deepEqual(installer, { kind: 'ensurepip' });
  await installPackages(environment, installer, [await wheelOfScipy(folder)], quiet);
  const after = await probeEnvironment(python);
  assert.equal(after.pip, true);
  assert.equal(after.scipy, true);
});

test('a failure of pip is one sentence, and nothing is taken for installed', async (t) => {
  const { python } = await makeSeeded(t);
  const environment = await probeEnvironment(python);
  await failsWith(environment, { kind: 'pip' }, /Installing .* failed\. .*nowhere/);
  assert.equal((await probeEnvironment(python)).scipy, false);
});

test('an installation that is called off leaves no process behind', async (t) => {
  const { folder, python, packages } = await makeSeeded(t);
  const pids = join(folder, 'pids');
  // pip with a child, as when it builds a package. Neither takes notice of an interrupt at once.
  await writeFile(
    join(packages, 'pip', '__main__.py'),
    [
      'import os, signal, subprocess, sys, time',
      'child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); print(1, flush=True); time.sleep(1000)"], stdout=subprocess.PIPE)',
      'child.stdout.readline()',
      `open(${JSON.stringify(pids)}, "w").write(f"{os.getpid()} {child.pid}")`,
      'print("Collecting", flush=True)',
      'time.sleep(1000)',
    ].join('\n'),
  );
  const stop = new AbortController();
  const installing = installPackages(await probeEnvironment(python), { kind: 'pip' }, ['scipy'], {
    onLine: () => undefined,
    onStage: (stage) => stage === 'Collecting' && stop.abort(),
    signal: stop.signal,
  });
  await assert.rejects(installing, { name: 'AbortError' });
  const processes = (await readFile(pids, 'utf8')).split(' ').map(Number);
  assert.equal(processes.length, 2);
  for (const pid of processes) {
    // It closes its files a moment before it is gone.
    for (let tries = 0; await isAlive(pid); tries += 1) {
      assert.ok(tries < 500, `${pid} still runs`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
});

test('makes an environment with pip, never in the place of another one', async (t) => {
  const folder = await makeFolder(t);
  const base = { path: await basePython(), version: '3.13.99' };
  await mkdir(join(folder, '.venv'));
  await writeFile(join(folder, '.venv', 'mine'), '');
  const python = await makeEnvironment(base, folder, quiet);
  assert.equal(python, join(folder, '.venv-3.13.99', 'bin', 'python'));
  assert.equal((await probeEnvironment(python)).pip, true);
  assert.match(await readFile(join(folder, '.venv-3.13.99', '.gitignore'), 'utf8'), /^\*$/m);
  assert.deepEqual(await readdir(join(folder, '.venv')), ['mine']);
  await assert.rejects(makeEnvironment(base, folder, quiet), /are in .* already/);
});

test('an environment that cannot be made leaves nothing behind', async (t) => {
  const folder = await makeFolder(t);
  const broken = join(folder, 'broken');
  await writeFile(broken, '#!/bin/sh\necho "Error: no module named ensurepip" >&2\nexit 1\n', { mode: 0o755 });
  await assert.rejects(
    makeEnvironment({ path: broken, version: '3.13.1' }, folder, quiet),
    (error) => error instanceof UserError && /failed\. No module named ensurepip\.$/.test(error.message),
  );
  assert.equal(existsSync(join(folder, '.venv')), false);
});

/** What cannot be installed: a file that is not there. */
async function failsWith(environment: PythonEnvironment, installer: Installer, message: RegExp): Promise<void> {
  await assert.rejects(
    installPackages(environment, installer, ['/nowhere/scipy-1.18.1-py3-none-any.whl'], quiet),
    (error) => error instanceof UserError && message.test(error.message) && !error.message.includes('Traceback'),
  );
}

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'environment-')));
  t.after(() => rm(folder, { recursive: true, maxRetries: 5 }));
  return folder;
}

/** An environment with the standard library only, in a folder of its own inside a folder for the test. */
async function makeEmpty(t: TestContext): Promise<{ folder: string; python: string; packages: string }> {
  const folder = await makeFolder(t);
  await runProcess(testPython(), ['-m', 'venv', '--without-pip', join(folder, 'env')], LIMIT);
  const python = join(folder, 'env', 'bin', 'python');
  const packages = await evaluate(python, 'import sysconfig; print(sysconfig.get_path("purelib"))');
  return { folder, python, packages };
}

/** The same with pip. */
async function makeSeeded(t: TestContext): Promise<{ folder: string; python: string; packages: string }> {
  const made = await makeEmpty(t);
  // Copied, since ensurepip takes many times as long.
  const from = await evaluate(testPython(), 'import os, pip; print(os.path.dirname(pip.__file__))');
  await cp(from, join(made.packages, 'pip'), { recursive: true });
  return made;
}

/**
 * A checkout that pip can install so that it runs from where it lies. It brings its own build program, which does as
 * setuptools does: links the checkout by its path, or by a finder of its own (PEP 660).
 */
async function makeCheckout(parent: string, name: string, version: string, link: 'path' | 'finder'): Promise<string> {
  const module = name.replaceAll('-', '_');
  const checkout = join(parent, name);
  const information = `${module}-${version}.dist-info`;
  const finder = `
import sys
from importlib.util import spec_from_file_location

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "${module}":
            folder = ${JSON.stringify(join(checkout, module))}
            return spec_from_file_location(name, folder + "/__init__.py", submodule_search_locations=[folder])

sys.meta_path.append(Finder)
`;
  const linked =
    link === 'path'
      ? { [`__editable__.${module}.pth`]: `${checkout}\n` }
      : { [`__editable__.${module}.pth`]: `import __editable___${module}\n`, [`__editable___${module}.py`]: finder };
  const wheel = wheelOf(information, name, version, linked);
  await mkdir(join(checkout, module), { recursive: true });
  await writeFile(join(checkout, module, '__init__.py'), 'raise SystemExit("It was imported")\n');
  await writeFile(join(checkout, `${module}-${version}-py3-none-any.whl`), wheel);
  await writeFile(
    join(checkout, 'pyproject.toml'),
    '[build-system]\nrequires = []\nbuild-backend = "build_it"\nbackend-path = ["."]\n',
  );
  await writeFile(
    join(checkout, 'build_it.py'),
    `import shutil

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return shutil.copy("${module}-${version}-py3-none-any.whl", wheel_directory).split("/")[-1]

build_wheel = build_editable
`,
  );
  return checkout;
}

/** A package that pip can install from the disk, in place of the real one. */
async function wheelOfScipy(folder: string): Promise<string> {
  const path = join(folder, 'scipy-1.18.1-py3-none-any.whl');
  await writeFile(path, wheelOf('scipy-1.18.1.dist-info', 'scipy', '1.18.1', { 'scipy/__init__.py': '' }));
  return path;
}

function wheelOf(
  information: string,
  name: string,
  version: string,
  files: Readonly<Record<string, string>>,
): Uint8Array {
  const all = {
    ...files,
    [`${information}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
    [`${information}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  };
  const record = [...Object.keys(all), `${information}/RECORD`].map((path) => `${path},,\n`).join('');
  const entries = Object.entries({ ...all, [`${information}/RECORD`]: record });
  return zipSync(Object.fromEntries(entries.map(([path, text]) => [path, new TextEncoder().encode(text)])));
}

async function evaluate(python: string, code: string): Promise<string> {
  return (await runProcess(python, ['-c', code], LIMIT)).stdout.trim();
}

/** The Python that the environment of the tests was made with. */
async function basePython(): Promise<string> {
  return await evaluate(testPython(), 'import sys; print(sys._base_executable)');
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
