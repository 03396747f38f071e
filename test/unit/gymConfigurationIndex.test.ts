import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createEmitter } from '../../src/common/emitter';
import { readConfiguration } from '../../src/gym/configuration';
import { type ConfigurationIndex, createConfigurationIndex } from '../../src/gym/configurationIndex';
import { readServers } from '../../src/gym/readServers';
import { type GymVersion, type Verdict, verdictWords } from '../../src/gym/verdict';
import { withTree } from '../../src/python/parser';
import { usePythonParser } from '../support/pythonGrammar';

const parser = usePythonParser();

const SERVER = (body: string): string =>
  `class Server(SimpleResourcesServer):\n    ${body}\n\nif __name__ == "__main__":\n    Server.run_webserver()\n`;
const ON = SERVER('ray_enabled = True');
const OFF = SERVER('ray_enabled = False');
const UNDECLARED = SERVER('pass');
const NAMES = (...names: string[]): string =>
  names.map((name) => `${name}: {resources_servers: {${name}: {entrypoint: app.py}}}\n`).join('');

/** Three servers that stand where Gym looks for them. */
const SERVERS = Object.fromEntries(
  Object.entries({ on: ON, off: OFF, undeclared: UNDECLARED }).flatMap(([name, source]) => [
    [`/ws/resources_servers/${name}/app.py`, source],
    [`/ws/resources_servers/${name}/requirements.txt`, ''],
  ]),
);

describe('the verdict for a configuration', () => {
  test('is yes as soon as one server is on, and says which', async () => {
    const verdict = await verdictFor(NAMES('off', 'undeclared', 'on'));
    assert.equal(verdict.startsRay, 'yes');
    assert.deepEqual(instancesOf(verdict), ['on']);
    assert.equal(titleOf(verdict), 'Starts Ray: yes (because of on)');
  });

  test('cannot be settled when one is not declared and none is on', async () => {
    const verdict = await verdictFor(NAMES('off', 'undeclared'));
    assert.equal(verdict.startsRay, 'unsettled');
    assert.equal(titleOf(verdict), 'Starts Ray: cannot be settled (because of undeclared)');
    assert.match(verdictWords(verdict, 'later').details.join(' '), /Server does not declare ray_enabled/);
  });

  test('is no when all are off, and when nothing is started', async () => {
    const verdict = await verdictFor(NAMES('off'));
    assert.equal(verdict.startsRay, 'no');
    assert.equal(titleOf(verdict), 'Starts Ray: no');
    assert.equal((await verdictFor('on: {resources_servers: {on: {host: here}}}\n')).startsRay, 'no');
  });

  test('says that Gym 0.7 starts Ray whatever the servers say', async () => {
    const verdict = await verdictFor(NAMES('off'));
    assert.match(titleOf(verdict, '0.7'), /no server asks for it, but Gym 0\.7 starts it anyway/);
    assert.match(verdictWords(verdict, 'unknown').details.join(' '), /Gym 0\.7 starts or joins Ray for every/);
    assert.match(verdictWords(verdict, 'before 0.7').details.join(' '), /does not know ray_enabled/);
  });

  test('cannot be settled when a file is missing, and says which', async () => {
    const verdict = await verdictFor(NAMES('off', 'gone'));
    assert.equal(verdict.startsRay, 'unsettled');
    assert.match(verdictWords(verdict, 'later').details.join(' '), /resources_servers\/gone\/app\.py is not found/);
  });

  test('does not count a folder that has neither requirements.txt nor pyproject.toml', async () => {
    const verdict = await verdictFor(NAMES('bare'), { '/ws/resources_servers/bare/app.py': OFF });
    assert.equal(verdict.startsRay, 'unsettled');
    assert.match(verdictWords(verdict, 'later').details.join(' '), /neither requirements\.txt nor pyproject\.toml/);
    const marked = { '/ws/resources_servers/bare/app.py': OFF, '/ws/resources_servers/bare/pyproject.toml': '' };
    assert.equal((await verdictFor(NAMES('bare'), marked)).startsRay, 'no');
  });

  test('looks in the extra roots first, then near the configuration, and where Gym is installed last', async () => {
    const at = (root: string, source: string): Record<string, string> => ({
      [`${root}/resources_servers/s/app.py`]: source,
      [`${root}/resources_servers/s/requirements.txt`]: '',
    });
    const places = {
      ...at('/site-packages', ON),
      ...at('/ws', OFF),
      ...at('/ws/checkout', UNDECLARED),
      ...at('/extra', ON),
    };
    const from = async (files: Record<string, string>, options = {}): Promise<string | undefined> =>
      (await verdictFor(NAMES('s'), files, '/ws/checkout/benchmarks/b/config.yaml', options)).servers[0]?.path;
    assert.equal(await from(places, { extraRoots: ['/extra'] }), '/extra/resources_servers/s/app.py');
    assert.equal(await from(places), '/ws/checkout/resources_servers/s/app.py');
    assert.equal(await from({ ...at('/site-packages', ON), ...at('/ws', OFF) }), '/ws/resources_servers/s/app.py');
    assert.equal(await from(at('/site-packages', ON)), '/site-packages/resources_servers/s/app.py');
  });

  test('takes in the configurations that it names', async () => {
    const verdict = await verdictFor('config_paths: [resources_servers/on/configs/on.yaml]\n', {
      '/ws/resources_servers/on/configs/on.yaml': NAMES('on'),
    });
    assert.deepEqual(instancesOf(verdict), ['on']);
    assert.equal((await verdictFor('config_paths: [resources_servers/gone.yaml]\n')).startsRay, 'unsettled');
  });

  test('is reached for a file outside of every folder of the workspace', async () => {
    const files = {
      '/else/resources_servers/s/app.py': ON,
      '/else/resources_servers/s/requirements.txt': '',
    };
    assert.equal((await verdictFor(NAMES('s'), files, '/else/resources_servers/s/configs/s.yaml')).startsRay, 'yes');
  });
});

describe('the index of configurations', () => {
  test('reads nothing before it is asked, then every YAML file once', async () => {
    const { index, reads } = make({ '/ws/a.yaml': NAMES('on'), '/ws/b.yml': 'x: 1\n', '/ws/c.txt': NAMES('on') });
    assert.equal(reads.length, 0);
    await Promise.all([index.build(), index.build()]);
    assert.deepEqual(reads, ['/ws/a.yaml', '/ws/b.yml']);
    assert.deepEqual([...index.configurations().keys()], ['/ws/a.yaml']);
    assert.ok(index.isComplete());
  });

  test('knows which configurations name a server, by its file and not by its name alone', async () => {
    const { index } = make({
      '/ws/b.yaml': NAMES('on', 'off'),
      '/ws/a.yaml': NAMES('on'),
      '/ws/other/c.yaml': NAMES('on'),
      '/ws/other/resources_servers/on/app.py': OFF,
      '/ws/other/resources_servers/on/requirements.txt': '',
    });
    await index.build();
    const naming = await index.naming('/ws/resources_servers/on/app.py');
    assert.deepEqual(
      naming.map(({ path, instance }) => [path, instance.range.startLine]),
      [
        ['/ws/a.yaml', 0],
        ['/ws/b.yaml', 0],
      ],
    );
    assert.equal((await index.naming('/ws/other/resources_servers/on/app.py')).length, 1);
  });

  test('takes up what is written, made and deleted, and tells', async () => {
    const { index, files, changed } = make({ '/ws/a.yaml': NAMES('on'), '/ws/b.yaml': NAMES('on') });
    await index.build();
    files.set('/ws/a.yaml', NAMES('off'));
    files.set('/ws/new.yaml', NAMES('on'));
    files.delete('/ws/b.yaml');
    const told = changed();
    index.update(['/ws/a.yaml', '/ws/b.yaml', '/ws/new.yaml']);
    await told;
    await until(() => index.configurations().has('/ws/new.yaml'));
    assert.deepEqual([...index.configurations().keys()].sort(), ['/ws/a.yaml', '/ws/new.yaml']);
    assert.equal(index.configurations().get('/ws/a.yaml')?.instances[0]?.name, 'off');
  });

  test('forgets what is in a folder that the workspace has no longer', async () => {
    const roots = ['/ws', '/second'];
    const { index } = make({ '/ws/a.yaml': NAMES('on'), '/second/b.yaml': NAMES('on') }, { roots });
    await index.build();
    roots.pop();
    index.update([]);
    assert.deepEqual([...index.configurations().keys()], ['/ws/a.yaml']);
  });

  test('does not look for a server in another folder of the workspace, where Gym would not', async () => {
    const verdict = await verdictFor(NAMES('on'), {}, '/second/b.yaml', { roots: ['/ws', '/second'] });
    assert.equal(verdict.startsRay, 'unsettled');
  });

  test('finds servers in a workspace that is a whole file system', async () => {
    assert.equal((await verdictFor(NAMES('on'), {}, '/ws/b.yaml', { roots: ['/'] })).startsRay, 'yes');
  });

  test('finds beside a server outside of the workspace the configuration that names it', async () => {
    const { index } = make({
      '/out/resources_servers/on/app.py': ON,
      '/out/resources_servers/on/requirements.txt': '',
      '/out/resources_servers/on/configs/on.yaml': NAMES('on'),
    });
    const namings = await index.naming('/out/resources_servers/on/app.py');
    assert.deepEqual(
      namings.map(({ path }) => path),
      ['/out/resources_servers/on/configs/on.yaml'],
    );
  });

  test('gives another verdict when a server has changed', async () => {
    const { index, files, serversChanged } = make({ '/ws/a.yaml': NAMES('off') });
    await index.build();
    const configuration = index.configurations().get('/ws/a.yaml');
    assert.ok(configuration);
    assert.equal((await index.verdict('/ws/a.yaml', configuration)).startsRay, 'no');
    files.set('/ws/resources_servers/off/app.py', ON);
    serversChanged();
    assert.equal((await index.verdict('/ws/a.yaml', configuration)).startsRay, 'yes');
  });

  test('ends when it is cancelled, and can be built again', async () => {
    const { index } = make({ '/ws/a.yaml': NAMES('on') });
    await assert.rejects(index.build(AbortSignal.abort()));
    assert.ok(!index.isComplete());
    await index.build();
    assert.equal(index.configurations().size, 1);
  });
});

interface Options {
  readonly extraRoots?: readonly string[];
  readonly roots?: readonly string[];
}

function make(contents: Record<string, string>, { extraRoots = [], roots = ['/ws'] }: Options = {}) {
  const files = new Map(Object.entries({ ...SERVERS, ...contents }));
  const reads: string[] = [];
  const serversChanged = createEmitter<void>();
  const index: ConfigurationIndex = createConfigurationIndex({
    files: {
      async read(path) {
        reads.push(path);
        const text = files.get(path);
        return text === undefined ? undefined : new TextEncoder().encode(text);
      },
      async listConfigurations(folder) {
        return [...files.keys()].filter((path) => path.startsWith(`${folder}/`) && /\.ya?ml$/.test(path));
      },
    },
    servers: {
      async read(path) {
        const text = files.get(path);
        return text === undefined ? undefined : withTree(parser(), text, (root) => readServers(root, text));
      },
      onDidChange: serversChanged.event,
    },
    roots: () => roots,
    extraRoots,
    installRoot: async () => '/site-packages',
  });
  const changed = (): Promise<void> =>
    new Promise((resolve) => {
      const subscription = index.onDidChange(() => {
        subscription.dispose();
        resolve();
      });
    });
  return { index, files, reads, changed, serversChanged: () => serversChanged.fire() };
}

async function verdictFor(
  text: string,
  contents: Record<string, string> = {},
  path = '/ws/config.yaml',
  options: Options = {},
): Promise<Verdict> {
  const configuration = await readConfiguration(text);
  assert.ok(configuration);
  const { index } = make(contents, options);
  return index.verdict(path, configuration);
}

function instancesOf({ because }: Verdict): string[] {
  return because.map(({ instance }) => instance);
}

function titleOf(verdict: Verdict, version: GymVersion = 'later'): string {
  return verdictWords(verdict, version).title;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
