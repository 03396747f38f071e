import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfiguration } from '../../src/gym/configuration';
import { newConfigurationFor } from '../../src/gym/newConfiguration';

test('the smallest configuration starts a resources server by itself', async () => {
  assert.deepEqual(await newConfigurationFor('/w/resources_servers/words/app.py'), {
    path: '/w/resources_servers/words/configs/words.yaml',
    text: 'words:\n  resources_servers:\n    words:\n      entrypoint: app.py\n      domain: other\n',
  });
});

test('a name that YAML would take for something else is read again as it is', async () => {
  for (const name of ['on', '1.0', 'null', 'a: b', '#x']) {
    const written = await newConfigurationFor(`/w/resources_servers/${name}/app.py`);
    const [instance] = (await readConfiguration(written?.text ?? ''))?.instances ?? [];
    assert.deepEqual([instance?.name, instance?.server], [name, name]);
  }
});

test('for others none is made up', async () => {
  assert.equal(await newConfigurationFor('/w/responses_api_agents/a/app.py'), undefined);
  assert.equal(await newConfigurationFor('/w/app.py'), undefined);
  assert.equal(await newConfigurationFor('/w/resources_servers/app.py'), undefined);
});
