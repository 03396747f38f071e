import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { composeConfiguration } from '../../src/gym/composition';
import { type Configuration, mayBeConfiguration, readConfiguration } from '../../src/gym/configuration';

const PLAIN = `# Ours
maths:
  resources_servers:
    arithmetic:
      entrypoint: app.py
      domain: math
  responses_api_agents:
    ignored: {entrypoint: app.py}
`;

describe('one YAML file', () => {
  test('names an instance, its kind, its folder and its entrypoint, each in its place', async () => {
    const { instances, problem } = await read(PLAIN);
    assert.equal(problem, undefined);
    assert.deepEqual(instances, [
      {
        name: 'maths',
        range: { startLine: 1, startColumn: 0, endLine: 1, endColumn: 5 },
        block: { startLine: 1, startColumn: 0, endLine: 8, endColumn: 0 },
        kind: 'resources_servers',
        server: 'arithmetic',
        entrypoint: { file: 'app.py', range: { startLine: 4, startColumn: 18, endLine: 4, endColumn: 24 } },
      },
    ]);
  });

  test('counts columns in UTF-16 and takes every line break', async () => {
    const text = `a: 1\r\n"😀": {resources_servers: {x: {note: "😀", entrypoint: 'app.py'}}}\r\n`;
    const [instance] = (await read(text)).instances;
    assert.deepEqual(instance?.range, { startLine: 1, startColumn: 0, endLine: 1, endColumn: 4 });
    const start = text.split('\r\n')[1]?.indexOf("'app.py'") ?? 0;
    assert.deepEqual(instance?.entrypoint, {
      file: 'app.py',
      range: { startLine: 1, startColumn: start, endLine: 1, endColumn: start + 8 },
    });
  });

  test('takes only the first key of each level', async () => {
    const { instances } = await read(
      'a: {host: x, resources_servers: {s: {entrypoint: app.py}}}\nb: {resources_servers: {s: {}, t: {entrypoint: app.py}}}\n',
    );
    assert.deepEqual(
      instances.map(({ name, server, entrypoint }) => [name, server, entrypoint?.file]),
      [['b', 's', undefined]],
    );
  });

  test('knows an instance that takes its server from another one', async () => {
    const { instances } = await read(
      `config_paths: [resources_servers/a.yaml]\nmine:\n  _inherit_from: a\nother: \${inherit_from:b}\n`,
    );
    assert.deepEqual(
      instances.map(({ name, kind }) => [name, kind]),
      [
        ['mine', undefined],
        ['other', undefined],
      ],
    );
  });

  test('reads anchors and merges, those first as PyYAML does', async () => {
    const { instances } = await read(
      'base: &base\n  resources_servers: {s: {entrypoint: app.py}}\none: *base\ntwo:\n  environment_servers: {e: {}}\n  <<: *base\n',
    );
    assert.deepEqual(
      instances.map(({ name, kind, entrypoint }) => [name, kind, entrypoint?.range.startLine]),
      [
        ['base', 'resources_servers', 1],
        ['one', 'resources_servers', 1],
        ['two', 'resources_servers', 1],
      ],
    );
  });

  test('does its best with a text that is being typed, and says what is wrong', async () => {
    const { instances, problem } = await read(`${PLAIN}broken: [1, 2\nnext: "open`);
    assert.equal(instances[0]?.server, 'arithmetic');
    assert.ok(problem && problem.range.startLine >= 8);
    for (let end = 0; end <= PLAIN.length; end += 1) {
      await readConfiguration(PLAIN.slice(0, end));
    }
  });

  test('says why Gym refuses several documents, and a key that stands twice', async () => {
    assert.match((await read(`${PLAIN}---\nx: 1\n`)).problem?.message ?? '', /one document only/);
    assert.match(
      (await read(`${PLAIN}maths: 1\nmaths: {resources_servers: {s: {}}}\n`)).problem?.message ?? '',
      /twice/,
    );
  });

  test('is not exhausted by anchors in anchors, nor by one in itself', async () => {
    let text = 'resources_servers: 1\na0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n';
    for (let level = 1; level < 12; level += 1) {
      text += `a${level}: &a${level} [${`*a${level - 1}, `.repeat(10)}]\n`;
    }
    const { problem } = await read(`${text}x: {resources_servers: {s: {entrypoint: app.py}}}\n`);
    assert.match(problem?.message ?? '', /too much/);
    await readConfiguration('x: &x {resources_servers: {s: *x}}\n');
    await readConfiguration(`resources_servers: ${'['.repeat(50_000)}`);
  });

  test('is not parsed when it does not speak of Gym, and is nothing when it names no server', async () => {
    assert.equal(mayBeConfiguration('services:\n  web:\n    image: nginx\n'), false);
    assert.equal(await readConfiguration('# resources_servers\nservices: {web: 1}\n'), undefined);
    assert.equal(await readConfiguration('- resources_servers\n'), undefined);
  });
});

describe('a configuration with those that it names', () => {
  const files: Record<string, string> = {
    'math.yaml': PLAIN,
    'agent.yaml': 'solver: {responses_api_agents: {simple: {entrypoint: app.py, resources_server: {name: maths}}}}\n',
    'both.yaml': 'config_paths: [math.yaml, agent.yaml, both.yaml]\n',
    'notes.yaml': 'title: nothing of Gym\n',
  };

  test('starts the servers of all of them, those that it names first', async () => {
    const text =
      'config_paths: [math.yaml, agent.yaml]\nmodel: {responses_api_models: {vllm: {entrypoint: serve.py}}}\n';
    assert.deepEqual(await compose(text), {
      servers: [
        'maths resources_servers/arithmetic/app.py',
        'solver responses_api_agents/simple/app.py',
        'model responses_api_models/vllm/serve.py',
      ],
      problems: [],
    });
  });

  test('ends when they name each other, and passes over one without servers', async () => {
    const { servers, problems } = await compose('config_paths: [both.yaml, notes.yaml]\n');
    assert.equal(servers.length, 2);
    assert.deepEqual(problems, []);
  });

  test('moves what is inherited, and merges its own into it', async () => {
    const text =
      'config_paths: [math.yaml]\nmine:\n  _inherit_from: maths\n  resources_servers: {arithmetic: {entrypoint: other.py}}\n';
    assert.deepEqual((await compose(text)).servers, ['mine resources_servers/arithmetic/other.py']);
  });

  test('leaves what is copied', async () => {
    for (const mine of ['mine: {_copy: maths}', `mine: "\${copy:maths}"`]) {
      assert.deepEqual((await compose(`config_paths: [math.yaml]\n${mine}\n`)).servers, [
        'maths resources_servers/arithmetic/app.py',
        'mine resources_servers/arithmetic/app.py',
      ]);
    }
  });

  test('does not follow what is inherited from an heir: Gym takes it as it stood before', async () => {
    const text = 'a: {_inherit_from: b}\nb: {_inherit_from: c}\nc: {resources_servers: {s: {entrypoint: app.py}}}\n';
    assert.deepEqual((await compose(text)).servers, ['b resources_servers/s/app.py']);
  });

  test('deletes what is to be deleted, and starts nothing without an entrypoint', async () => {
    const text =
      'config_paths: [math.yaml]\nmaths:\n  resources_servers:\n    arithmetic: {_delete_key: entrypoint}\nx: {resources_servers: {s: {entrypoint: ???}}}\n';
    assert.deepEqual((await compose(text)).servers, []);
  });

  test('puts the agent without a task in the place of the others', async () => {
    const text =
      'config_paths: [agent.yaml]\nnew: {responses_api_agents: {hermes: {entrypoint: run.py, resources_server: {name: ???}}}}\n';
    assert.deepEqual((await compose(text)).servers, ['solver responses_api_agents/hermes/run.py']);
  });

  test('says what is missing', async () => {
    const { problems } = await compose(
      'config_paths: [gone.yaml]\nx: {_inherit_from: nobody}\ny: {resources_servers: {s: {entrypoint: /app.py}}}\n',
    );
    assert.equal(problems.length, 3);
    assert.match(problems[0] ?? '', /gone\.yaml/);
    assert.match(problems[1] ?? '', /nobody/);
    assert.match(problems[2] ?? '', /absolute/);
  });

  async function compose(text: string): Promise<{ servers: string[]; problems: readonly string[] }> {
    const { servers, problems } = await composeConfiguration(
      { path: 'start.yaml', configuration: await read(text) },
      async (path) => {
        const found = files[path];
        const configuration = found === undefined ? undefined : await readConfiguration(found);
        return configuration ? { path, configuration } : found === undefined ? 'missing' : 'without servers';
      },
    );
    return {
      servers: servers.map(({ instance, kind, name, entrypoint }) => `${instance} ${kind}/${name}/${entrypoint}`),
      problems,
    };
  }
});

async function read(text: string): Promise<Configuration> {
  const configuration = await readConfiguration(text);
  assert.ok(configuration, 'it is no configuration');
  return configuration;
}
