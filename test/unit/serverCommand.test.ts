import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serverCommand } from '../../src/gym/serverCommand';

test('the gym of the environment starts a configuration, and joins the cluster that there is', () => {
  assert.deepEqual(serverCommand('/e n v/bin/python', '/w/a b.yaml', undefined), {
    program: '/e n v/bin/gym',
    args: ['env', 'start', '--config', '/w/a b.yaml'],
  });
  assert.deepEqual(
    serverCommand('/e/bin/python', '/w/a.yaml', '10.0.0.1:6379').args.at(-1),
    '+ray_head_node_address=10.0.0.1:6379',
  );
});
