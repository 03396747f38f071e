import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { strFromU8, unzipSync } from 'fflate';
import { buildJobPackage, packagedBenchmarkName } from '../../src/benchmark/jobPackage';
import { UserError } from '../../src/common/userError';

describe('the package of a job', () => {
  let folder: string;
  let driverFolder: string;
  let own: { file: string; name: string };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shardboard-package-'));
    driverFolder = join(folder, 'driver');
    await mkdir(join(driverFolder, 'shardboard_driver', '__pycache__'), { recursive: true });
    await writeFile(join(driverFolder, 'shardboard_driver', '__main__.py'), 'print()');
    await writeFile(join(driverFolder, 'shardboard_driver', '__pycache__', 'x.pyc'), 'x');
    await mkdir(join(folder, 'mine', 'data'), { recursive: true });
    await mkdir(join(folder, 'mine', '.git'));
    await writeFile(join(folder, 'mine', 'words.py'), '# words');
    await writeFile(join(folder, 'mine', 'data', 'rows.jsonl'), '{}');
    await writeFile(join(folder, 'mine', '.git', 'HEAD'), 'ref');
    own = { file: join(folder, 'mine', 'words.py'), name: 'words' };
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('holds the driver, the request and what lies beside the benchmark, and no caches or repositories', async () => {
    const files = unzipSync(await buildJobPackage({ driverFolder, request: '{"a":1}', own }));
    assert.deepEqual(Object.keys(files).sort(), [
      'benchmark/data/rows.jsonl',
      'benchmark/words.py',
      'request.json',
      'shardboard_driver/__main__.py',
    ]);
    assert.equal(strFromU8(files['request.json'] ?? new Uint8Array()), '{"a":1}');
    assert.equal(packagedBenchmarkName(own), 'benchmark/words.py:words');
  });

  it('refuses a folder above what Ray takes, and names what is large in it', async () => {
    const large = join(folder, 'mine', 'data', 'large.bin');
    await writeFile(large, '');
    // A hole in a file costs no disk and counts in full.
    await truncate(large, 101 * 1024 * 1024);
    try {
      await assert.rejects(buildJobPackage({ driverFolder, request: '{}', own }), (error) => {
        assert.ok(error instanceof UserError);
        assert.match(error.message, /data \(101 MB\)/);
        return true;
      });
    } finally {
      await rm(large);
    }
  });
});
