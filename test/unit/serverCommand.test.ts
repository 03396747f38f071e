import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serverCommand, serverEnvironment } from '../../src/gym/serverCommand';

const python = '/e n v/bin/python';

test('the gym of the environment starts a configuration', () => {
  assert.deepEqual(serverCommand(python, { configuration: '/w/a b.yaml' }), {
    program: '/e n v/bin/gym',
    args: ['env', 'start', '--config', '/w/a b.yaml'],
  });
});

test('it joins a cluster, and its head server listens elsewhere, when it is told to', () => {
  const { args } = serverCommand(python, {
    configuration: '/w/a.yaml',
    rayAddress: '10.0.0.1:6379',
    headPort: 20001,
  });
  assert.deepEqual(args.slice(4), ['+ray_head_node_address=10.0.0.1:6379', '+head_server.port=20001']);
});

for (const [path, value] of [
  ['/Jörg/a.yaml', "'/Jörg/a.yaml'"],
  ['/x=1, [y]/a.yaml', "'/x=1, [y]/a.yaml'"],
  ["/Jo's/a.yaml", "'/Jo\\'s/a.yaml'"],
  ["/back\\'s/a.yaml", "'/back\\\\\\'s/a.yaml'"],
  ['/a\\', "'/a\\\\'"],
  ['/a\\b.yaml', "'/a\\b.yaml'"],
] as const) {
  test(`Hydra reads the path ${path}`, () => {
    assert.equal(serverCommand(python, { configuration: path }).args[3], value);
  });
}

test('the programs of the environment are found first, and a token only by its path', () => {
  const plain = serverEnvironment(python, undefined);
  assert.match(plain.PATH ?? '', /^\/e n v\/bin(:|$)/);
  assert.equal('RAY_AUTH_TOKEN' in plain, false);
  const joined = serverEnvironment(python, '/t/token');
  assert.equal(joined.RAY_AUTH_MODE, 'token');
  assert.equal(joined.RAY_AUTH_TOKEN_PATH, '/t/token');
  assert.equal('RAY_AUTH_TOKEN' in joined, true);
  assert.equal(joined.RAY_AUTH_TOKEN, undefined);
});
