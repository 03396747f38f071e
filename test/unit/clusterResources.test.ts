import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RAYS_CHOICE, resourceArguments } from '../../src/cluster/resources';
import { UserError } from '../../src/common/userError';

test('what no setting says is left to Ray', () => {
  assert.deepEqual(resourceArguments(RAYS_CHOICE), []);
});

test("resources become Ray's own flags, memory in bytes", () => {
  assert.deepEqual(resourceArguments({ numCpus: 4, numGpus: 0, memory: 2, objectStoreMemory: 0.5 }), [
    '--num-cpus=4',
    '--num-gpus=0',
    '--memory=2147483648',
    '--object-store-memory=536870912',
  ]);
});

for (const wrong of [{ numCpus: -1 }, { numGpus: 0.5 }, { memory: 0 }, { objectStoreMemory: Number.NaN }]) {
  test(`${JSON.stringify(wrong)} is refused with the setting's name`, () => {
    assert.throws(
      () => resourceArguments({ ...RAYS_CHOICE, ...wrong }),
      (error) => error instanceof UserError && error.message.includes(`shardboard.cluster.${Object.keys(wrong)[0]}`),
    );
  });
}
