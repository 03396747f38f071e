import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { describeConfigurationLenses } from '../../src/editor/configurationLensDescriptions';
import { type Configuration, readConfiguration } from '../../src/gym/configuration';
import { readServers } from '../../src/gym/readServers';
import type { ServerFile } from '../../src/gym/serverFile';
import { flagOf } from '../../src/gym/serverFlag';
import { verdictOf } from '../../src/gym/verdict';
import { withTree } from '../../src/python/parser';
import {
  belowRoot,
  configurationItem,
  configurationNodes,
  configuredServerItem,
  configuredServerNodes,
  countsInWords,
  groupItem,
  groupNodes,
  namingNodes,
  serverEntries,
  serverItem,
  serverNodes,
} from '../../src/views/serversTree';
import { usePythonParser } from '../support/pythonGrammar';

const parser = usePythonParser();

const SOURCES: Record<string, string> = {
  '/ws/resources_servers/code/app.py': server('Code', 'ray_enabled = True'),
  '/ws/resources_servers/words/app.py': server('Words', 'ray_enabled = False'),
  '/ws/resources_servers/words/second.py': server('Second', 'pass'),
  '/ws/resources_servers/words/shared.py': 'class Shared(SimpleResourcesServer):\n    ray_enabled = True\n',
  '/ws/Gym/responses_api_agents/simple/app.py': server('Simple', 'ray_enabled = bool(1)'),
  '/ws/responses_api_models/silent/app.py': 'class Silent(SimpleResponsesAPIModel):\n    ray_enabled = True\n',
  '/ws/scripts/own.py': server('Own', 'ray_enabled = False'),
};
const YAML = `code:
  resources_servers: {code: {entrypoint: app.py}}
silent:
  responses_api_models: {silent: {entrypoint: app.py}}
`;

describe('the tree of servers', () => {
  let files: ReadonlyMap<string, ServerFile>;
  let configurations: ReadonlyMap<string, Configuration>;

  before(async () => {
    const entries = Object.entries(SOURCES).map(async ([path, text]) => [path, await read(text)] as const);
    files = new Map(await Promise.all(entries));
    const configuration = await readConfiguration(YAML);
    assert.ok(configuration);
    configurations = new Map([['/ws/configs/all.yaml', configuration]]);
  });

  const entries = () => serverEntries(files, configurations, ['/ws']);

  test('groups what starts a server or is named by a configuration, and counts it', () => {
    const groups = groupNodes(entries(), configurations, undefined).flatMap((node) =>
      node.type === 'group' ? [[groupItem(node).label, node.count]] : [],
    );
    assert.deepEqual(groups, [
      ['Resources servers', 3],
      ['Agents', 1],
      ['Models', 1],
      ['Other servers', 1],
      ['Configurations', 1],
    ]);
    assert.equal(countsInWords(entries()), '1 on, 2 off, 1 not declared, 2 cannot be read');
  });

  test('names a server after its folder, with its flag, what it starts, and the place of its declaration', () => {
    const items = serverNodes(entries(), 'resources_servers', undefined).flatMap((node) =>
      node.type === 'server' ? [serverItem(node, undefined)] : [],
    );
    assert.deepEqual(
      items.map(({ label, description, spoken, opens }) => [label, description, spoken, opens?.range.startLine]),
      [
        ['code', 'on, Code', 'code, Ray on, Code', 1],
        ['words', 'off, Words', 'words, Ray off, Words', 1],
        ['words/second.py', 'not declared, Second', 'words/second.py, Ray not declared, Second', 0],
      ],
    );
    const [other] = serverNodes(entries(), 'other', undefined);
    assert.ok(other?.type === 'server');
    const { label, description, spoken } = serverItem(other, 'second');
    assert.deepEqual(
      [label, description, spoken],
      ['scripts/own.py', 'off, Own · second', 'scripts/own.py, Ray off, Own, second'],
    );
  });

  test('has ids that stay the same', () => {
    const ids = (): string[] => serverNodes(entries(), 'resources_servers', undefined).map(({ id }) => id);
    assert.deepEqual(ids(), ids());
    assert.equal(new Set(ids()).size, 3);
  });

  test('shows only what the filter lets through', () => {
    const groups = groupNodes(entries(), configurations, 'off');
    assert.deepEqual(
      groups.map(({ id }) => id),
      ['group:resources_servers', 'group:other'],
    );
    assert.equal(serverNodes(entries(), 'resources_servers', 'off').length, 1);
    assert.deepEqual(groupNodes([], new Map(), 'on'), []);
  });

  test('shows a configuration with its verdict, its folder and its servers', () => {
    const [node] = configurationNodes(configurations);
    assert.ok(node?.type === 'configuration');
    const verdict = verdictFor(node.configuration);
    const item = configurationItem(node, verdict, 'later', 'configs', undefined);
    assert.equal(item.label, 'all.yaml');
    assert.equal(item.description, 'Starts Ray: yes (because of code) · configs');
    assert.ok(item.hasChildren);
    const servers = configuredServerNodes(node.id, verdict).flatMap((child) =>
      child.type === 'configuredServer' ? [configuredServerItem(child)] : [],
    );
    assert.deepEqual(
      servers.map(({ label, description }) => [label, description]),
      [
        ['code', 'on, resources_servers/code'],
        ['silent', 'cannot be read, responses_api_models/silent'],
      ],
    );
  });

  test('shows under a server each configuration that names it once, with no further children', () => {
    const configuration = configurations.get('/ws/configs/all.yaml');
    const [first, second] = configuration?.instances ?? [];
    assert.ok(configuration && first && second);
    const naming = { path: '/ws/configs/all.yaml', configuration };
    const nodes = namingNodes('/ws/s.py', [
      { ...naming, instance: first },
      { ...naming, instance: second },
    ]);
    assert.equal(nodes.length, 1);
    const [node] = nodes;
    assert.ok(node?.type === 'configuration');
    const item = configurationItem(node, verdictFor(configuration), 'later', '', undefined);
    assert.equal(item.hasChildren, false);
    assert.equal(item.opens?.range.startLine, 0);
  });

  test('puts on a configuration the verdict at its top, and on each server its flag', () => {
    const configuration = configurations.get('/ws/configs/all.yaml');
    assert.ok(configuration);
    const lenses = describeConfigurationLenses(configuration, verdictFor(configuration), 'later', 'ended');
    assert.deepEqual(
      lenses.map(({ range, title }) => [range.startLine, title]),
      [
        [0, 'Starts Ray: yes (because of code)'],
        [0, 'Run with Gym'],
        [1, 'Ray: on'],
        [3, 'Ray: cannot be read'],
      ],
    );
    assert.deepEqual(lenses[0]?.action, { instances: ['code'] });
    assert.equal(
      lenses[2]?.action && 'path' in lenses[2].action && lenses[2].action.path,
      '/ws/resources_servers/code/app.py',
    );
  });

  test('says of a configuration that it runs, and how it is stopped', () => {
    const [node] = configurationNodes(configurations);
    assert.ok(node?.type === 'configuration');
    const verdict = verdictFor(node.configuration);
    const item = configurationItem(node, verdict, 'later', 'configs', { kind: 'running' });
    assert.equal(item.description, 'running · Starts Ray: yes (because of code) · configs');
    assert.equal(item.spoken, 'all.yaml, running, Starts Ray: yes (because of code), configs');
    assert.equal(item.context, 'runningConfiguration');
    const failed = configurationItem(node, verdict, 'later', 'configs', { kind: 'failed', exitCode: 3 });
    assert.equal(failed.description, 'failed (exit code 3) · Starts Ray: yes (because of code) · configs');
    assert.equal(failed.context, undefined);
    const [, lens] = describeConfigurationLenses(node.configuration, verdict, 'later', 'running');
    assert.deepEqual([lens?.title, lens?.action], ['Stop Gym', { command: 'shardboard.stopServer' }]);
    const nowhere = describeConfigurationLenses(node.configuration, verdict, 'later', 'not possible');
    assert.ok(nowhere.every(({ action }) => !(action && 'command' in action)));
  });

  test('puts nothing on a file that only names others, none of which starts a server', async () => {
    const configuration = await readConfiguration('config_paths: [docs.yaml]\n');
    assert.ok(configuration);
    assert.deepEqual(
      describeConfigurationLenses(configuration, verdictOf({ servers: [], problems: [] }, []), '0.7', 'ended'),
      [],
    );
  });

  test('takes a path below the innermost root', () => {
    assert.equal(belowRoot('/ws/Gym/a.py', ['/ws', '/ws/Gym']), 'a.py');
    assert.equal(belowRoot('/else/a.py', ['/ws']), '/else/a.py');
  });

  function verdictFor({ instances }: Configuration) {
    const servers = instances.flatMap(({ name: instance, kind, server: name, entrypoint }) =>
      kind && name ? [{ instance, kind, name, entrypoint: entrypoint?.file }] : [],
    );
    const found = servers.map(({ kind, name }) => {
      const path = `/ws/${kind}/${name}/app.py`;
      return { path, isMarked: true, file: files.get(path) };
    });
    return verdictOf({ servers, problems: [] }, found);
  }
});

describe('why the supervisor cannot settle a file', () => {
  const cases: Record<string, readonly [source: string, flag: string, reason: RegExp]> = {
    'nothing declared': [server('A', 'pass'), 'undeclared', /A does not declare/],
    'a computed value': [server('A', 'ray_enabled = bool(1)'), 'unreadable', /not a plain True or False/],
    'a base': [
      `class Base(SimpleServer):\n    ray_enabled = True\n${server('A', 'pass').replace('SimpleResourcesServer', 'Base')}`,
      'unreadable',
      /inherits ray_enabled from Base/,
    ],
    'an alias': [
      'class A(SimpleServer):\n    ray_enabled = True\nApp = A\nApp.run_webserver()\n',
      'unreadable',
      /another name/,
    ],
    'an imported class': ['from ours import A\nA.run_webserver()\n', 'unreadable', /another file/],
    'no call': ['class A(SimpleServer):\n    ray_enabled = True\n', 'unreadable', /no call/],
    'a broken file': [`${server('A', 'ray_enabled = True')}def broken(:\n`, 'unreadable', /not valid Python/],
  };
  for (const [name, [source, flag, reason]] of Object.entries(cases)) {
    test(name, async () => {
      const reading = flagOf(await read(source));
      assert.equal(reading.flag, flag);
      assert.match(reading.reason ?? '', reason);
    });
  }
});

function server(name: string, body: string): string {
  return `class ${name}(SimpleResourcesServer):\n    ${body}\n\nif __name__ == "__main__":\n    ${name}.run_webserver()\n`;
}

function read(text: string): Promise<ServerFile> {
  return withTree(parser(), text, (root) => readServers(root, text));
}
