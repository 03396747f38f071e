import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPythonExtensions, type OtherExtension } from '../../src/python/pythonExtensions';

const ENVIRONMENTS = 'ms-python.vscode-python-envs';
const PYTHON = 'ms-python.python';
const folder = { path: '/workspace' };

/** As the real one exports it: an object with methods, which need it as `this`. */
class EnvironmentsApi {
  readonly listeners: (() => void)[] = [];
  readonly asked: unknown[] = [];
  constructor(private readonly run: unknown) {}

  async getEnvironment(resource: unknown): Promise<unknown> {
    this.asked.push(resource);
    return this.run === undefined ? undefined : { name: 'env', execInfo: { run: this.run } };
  }

  onDidChangeEnvironment(listener: () => void): { dispose(): void } {
    this.listeners.push(listener);
    return { dispose: () => void this.listeners.pop() };
  }
}

function pythonApi(fsPath: string | undefined) {
  const listeners: (() => void)[] = [];
  return {
    listeners,
    environments: {
      getActiveEnvironmentPath: (resource: unknown) => ({ id: 'id', path: 'python', resource }),
      resolveEnvironment: async (active: { resource: unknown }) => {
        assert.equal(active.resource, folder);
        return fsPath === undefined ? undefined : { executable: { uri: { fsPath } } };
      },
      onDidChangeActiveEnvironmentPath: (listener: () => void) => {
        listeners.push(listener);
        return { dispose: () => undefined };
      },
    },
  };
}

/** What it exports can be read only when it is active, as with the real ones. */
function extension(
  exports: unknown,
  activation: Promise<void> = Promise.resolve(),
): OtherExtension & { active: boolean } {
  return {
    active: false,
    get exports() {
      if (!this.active) {
        throw new Error('not activated');
      }
      return exports;
    },
    async activate() {
      await activation;
      this.active = true;
    },
  };
}

function installed(found: Readonly<Record<string, OtherExtension>>, patienceMs = 60_000) {
  return createPythonExtensions((id) => found[id], patienceMs);
}

test('without a Python extension there is no answer, and nothing to note', async () => {
  assert.deepEqual(await installed({}).ask(folder), { notes: [] });
});

test('the Environments extension is asked first, for the resource', async () => {
  const api = new EnvironmentsApi({ executable: '/a/bin/python' });
  const extensions = installed({ [ENVIRONMENTS]: extension(api), [PYTHON]: extension(pythonApi('/b/bin/python')) });
  assert.deepEqual(await extensions.ask(folder), {
    chosen: { path: '/a/bin/python', from: 'the Python Environments extension' },
    notes: [],
  });
  assert.deepEqual(api.asked, [folder]);
});

test('the older one answers where the newer is turned off, has chosen none or one that is no interpreter', async () => {
  const older = { path: '/b/bin/python', from: 'the Python extension' };
  const condaRun = { executable: '/conda', args: ['run', 'python'] };
  for (const exports of [undefined, new EnvironmentsApi(undefined), new EnvironmentsApi(condaRun)]) {
    const extensions = installed({ [ENVIRONMENTS]: extension(exports), [PYTHON]: extension(pythonApi(older.path)) });
    assert.deepEqual(await extensions.ask(folder), { chosen: older, notes: [] });
  }
});

test('one that is not as expected is noted, and passed over', async () => {
  const extensions = installed({
    [ENVIRONMENTS]: extension({ getEnvironment: 'no function' }),
    [PYTHON]: extension(pythonApi(undefined)),
  });
  const { chosen, notes } = await extensions.ask(folder);
  assert.equal(chosen, undefined);
  assert.match(notes.join(), /^The Python Environments extension could not be asked: /);
});

test('a slow one is not waited for; when it is there at last, that is a change', async () => {
  let arrive = (): void => undefined;
  const arrival = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const slow = extension(new EnvironmentsApi({ executable: '/a/bin/python' }), arrival);
  const extensions = installed({ [ENVIRONMENTS]: slow }, 1);
  const { chosen, notes } = await extensions.ask(folder);
  assert.equal(chosen, undefined);
  assert.match(notes.join(), /did not answer within 0\.001 s/);
  const changed = new Promise<void>((resolve) => extensions.onDidChange(resolve));
  arrive();
  await changed;
});

test('a change of the chosen interpreter is told, until the end', async () => {
  const api = new EnvironmentsApi({ executable: '/a/bin/python' });
  const older = pythonApi('/b/bin/python');
  const extensions = installed({ [ENVIRONMENTS]: extension(api), [PYTHON]: extension(older) });
  let changes = 0;
  extensions.onDidChange(() => {
    changes += 1;
  });
  await extensions.ask(folder);
  await extensions.ask(folder);
  assert.equal(api.listeners.length, 1);
  // Nobody asked it.
  assert.equal(older.listeners.length, 0);
  api.listeners[0]?.();
  assert.equal(changes, 1);
  extensions.dispose();
  assert.equal(api.listeners.length, 0);
});
