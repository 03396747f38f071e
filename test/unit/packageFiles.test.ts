import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { packageFilesOf } from '../../src/benchmark/packageFiles';

describe('what travels with a benchmark', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shardboard-files-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const write = async (files: Readonly<Record<string, string>>): Promise<void> => {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
  };
  const survey = async () => {
    const found = await packageFilesOf(join(folder, 'words.py'));
    return {
      ...found,
      files: found.files.map((file) => relative(folder, file)).sort(),
      leftOut: [...found.leftOut].sort(),
    };
  };

  it('leaves out what .gitignore and .rayignore name, each for its own folder and below, and says so', async () => {
    await write({
      'words.py': '#',
      '.gitignore': '*.tmp\n/cache/\n!kept.tmp\n',
      '.rayignore': 'huge.bin\n',
      'a.tmp': '',
      'kept.tmp': '',
      'huge.bin': '',
      'cache/x': '',
      'data/rows.jsonl': '{}',
      'data/.gitignore': '*.old\n',
      'data/rows.old': '',
      'data/cache/y': '',
      'rows.old': '',
    });
    const { files, leftOut } = await survey();
    assert.deepEqual(files, [
      '.gitignore',
      '.rayignore',
      'data/.gitignore',
      'data/cache/y',
      'data/rows.jsonl',
      'kept.tmp',
      'rows.old',
      'words.py',
    ]);
    assert.deepEqual(leftOut, ['a.tmp', 'cache', 'data/rows.old', 'huge.bin']);
  });

  it('packs the benchmark itself whatever is ignored, and never a repository or an environment', async () => {
    await write({ 'words.py': '#', '.gitignore': '*.py\n', 'helper.py': '#', '.git/HEAD': '', '.venv/bin/python': '' });
    const { files, leftOut } = await survey();
    assert.deepEqual(files, ['.gitignore', 'words.py']);
    assert.deepEqual(leftOut, ['.git', '.venv', 'helper.py']);
  });

  it('names what weighs most', async () => {
    await write({
      'words.py': '##',
      'data/a': 'x'.repeat(300),
      'data/b': 'x'.repeat(200),
      big: 'x'.repeat(400),
      s: 'x',
    });
    const { bytes, largest } = await survey();
    assert.equal(bytes, 903);
    assert.deepEqual(largest, [
      { name: 'data', bytes: 500 },
      { name: 'big', bytes: 400 },
      { name: 'words.py', bytes: 2 },
    ]);
  });
});
