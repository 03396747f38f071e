import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSupportedCluster, SUPPORTED_CLUSTER } from '../../src/python/supportedVersions';

const cases: readonly [ray: string, python: string, supported: boolean][] = [
  ['2.60.0', '3.12.1', true],
  ['2.49.0', '3.13.14', true],
  ['2.100.0', '3.12.0', true],
  ['3.0.0.dev0', '3.12.1', false],
  ['2.48.9', '3.12.1', false],
  ['2.9.3', '3.12.1', false],
  ['1.60.0', '3.12.1', false],
  ['2.60.0', '3.11.7', false],
  ['2.60.0', '3.14.0', false],
  ['2.60.0', '3.1.2', false],
  ['nonsense', '3.12.1', false],
];
for (const [ray, python, supported] of cases) {
  test(`Ray ${ray} on Python ${python} is ${supported ? '' : 'not '}supported`, () => {
    assert.equal(isSupportedCluster(ray, python), supported);
  });
}

test('what is supported is said in words', () => {
  assert.equal(SUPPORTED_CLUSTER, 'Ray 2.49 or a later 2.x, on Python 3.12 or 3.13');
});
