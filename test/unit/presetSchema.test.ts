import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type * as v from 'valibot';
import manifest from '../../package.json';
import { parsePreset, runPreset } from '../../src/benchmark/runPreset';
import { RUN_FIELDS } from '../../src/commands/runFields';

const inSettings = manifest.contributes.configuration.properties['shardboard.presets'].additionalProperties.properties;
const { preset: _, ...inTasks } = manifest.contributes.taskDefinitions[0]?.properties ?? { preset: undefined };

describe('what package.json says of presets and tasks', () => {
  it('is the same for both', () => {
    assert.deepEqual(inTasks, inSettings);
  });

  it('has every field that is read, and no other', () => {
    assert.deepEqual(Object.keys(inSettings), Object.keys(runPreset.entries));
    const nested = ['generation', 'judge', 'prices', 'budget'] as const;
    for (const name of nested) {
      const schema = runPreset.entries[name];
      assert.deepEqual(Object.keys(inSettings[name].properties), Object.keys(unwrapped(schema).entries), name);
    }
  });

  it('has the defaults that a field has when it is left out', () => {
    const least = parsePreset('it', { benchmark: 'gsm8k', modelUrl: 'http://127.0.0.1/v1', modelId: 'm' });
    for (const [name, value] of Object.entries(least)) {
      const said = Object.entries(inSettings).find(([each]) => each === name)?.[1] ?? {};
      if ('default' in said) {
        const filled = parsePreset('it', { benchmark: 'b', modelUrl: 'practice', modelId: 'm', [name]: said.default });
        assert.deepEqual(Object.entries(filled).find(([each]) => each === name)?.[1], value, name);
      } else {
        assert.ok(['benchmark', 'modelUrl', 'modelId'].includes(name), name);
      }
    }
  });

  it('describes every field, and each that is no key or judge can be changed in the form', () => {
    for (const [name, said] of Object.entries(inSettings)) {
      assert.match(said.description, /^[A-Z].*\.$/, name);
    }
    const changeable = new Set(RUN_FIELDS.map(({ path }) => path[0] as string));
    const others = ['benchmark', 'key', 'judge', 'datasetKey'];
    assert.deepEqual(
      Object.keys(inSettings).filter((name) => !changeable.has(name)),
      others,
    );
  });
});

/** The object inside of what may be null or left out. */
function unwrapped(schema: v.GenericSchema): { readonly entries: object } {
  if ('wrapped' in schema) {
    return unwrapped(schema.wrapped as v.GenericSchema);
  }
  assert.ok('entries' in schema && typeof schema.entries === 'object' && schema.entries !== null);
  return { entries: schema.entries };
}
