import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hideKeys } from '../../src/ray/hideKeys';

const hidden: readonly [text: string, shown: string][] = [
  ['launcher --api-key CANARY-1 --shards 8', 'launcher --api-key <hidden> --shards 8'],
  ['launcher --api-key=CANARY-1 --shards 8', 'launcher --api-key=<hidden> --shards 8'],
  ['launcher --api-key "CANARY 1" -o out', 'launcher --api-key <hidden> -o out'],
  ["launcher --token='CANARY 1'", 'launcher --token=<hidden>'],
  ['NVIDIA_API_KEY=CANARY-1 python job.py', 'NVIDIA_API_KEY=<hidden> python job.py'],
  ['curl -H "Authorization: Bearer CANARY-1" host', 'curl -H "Authorization: Bearer <hidden>" host'],
  ['job sk-CANARY-123456', 'job <hidden>'],
  ['job nvapi-CANARY_1234', 'job <hidden>'],
];
for (const [text, shown] of hidden) {
  test(`hides the key in: ${text}`, () => {
    assert.equal(hideKeys(text), shown);
  });
}

for (const text of [
  'python -m nemo_evaluator.engine.ray_launcher --benchmark gsm8k --shards 8 --max-tokens 512 -o out',
  'python -u -m shardboard_driver request.json',
  'python keyboard.py --keys-file a.txt --api-key --shards 8',
]) {
  test(`leaves as it is: ${text}`, () => {
    assert.equal(hideKeys(text), text);
  });
}
