import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { findGym, gymVersionOf } from '../../src/gym/gymInstallation';
import { findSitePackages } from '../../src/python/sitePackages';

test('a version tells what Gym does with the flag', () => {
  assert.deepEqual(['0.4.0', '0.7.0', '0.7.3rc1', '0.8.0', '1.0.0', 'dev'].map(gymVersionOf), [
    'before 0.7',
    '0.7',
    '0.7',
    'later',
    'later',
    'unknown',
  ]);
});

test('Gym is found beside the interpreter, or where an editable installation points', async (t) => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'gym é ')));
  t.after(() => rm(folder, { recursive: true }));
  const packages = join(folder, 'lib', 'python3.13', 'site-packages');
  const python = join(folder, 'bin', 'python');
  assert.deepEqual(await findSitePackages(python), []);
  await mkdir(join(packages, 'nemo_gym-0.7.0.dist-info'), { recursive: true });
  assert.deepEqual(await findSitePackages(python), [packages]);
  assert.deepEqual(await findGym([packages]), { root: packages, version: '0.7' });
  assert.equal(await findGym([folder]), undefined);
  const checkout = join(folder, 'Gym checkout');
  await mkdir(checkout);
  await writeFile(
    join(packages, 'nemo_gym-0.7.0.dist-info', 'direct_url.json'),
    JSON.stringify({ url: pathToFileURL(checkout).href, dir_info: { editable: true } }),
  );
  assert.deepEqual(await findGym([packages]), { root: checkout, version: '0.7' });
});
