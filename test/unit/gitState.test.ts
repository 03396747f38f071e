import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { gitStateOf } from '../../src/benchmark/gitState';

describe('the git state of a folder', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shardboard-git-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const git = async (...args: string[]): Promise<string> => {
    const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
    return (await promisify(execFile)('git', [...who, '-C', folder, ...args])).stdout.trim();
  };

  it('is the commit, and whether what is there differs from it; results of runs are no change', async () => {
    await git('init', '--quiet');
    await mkdir(join(folder, 'benchmarks'));
    const benchmarks = join(folder, 'benchmarks');
    await writeFile(join(benchmarks, 'words.py'), '# one');
    assert.equal(await gitStateOf(benchmarks), undefined, 'no commit yet');
    await git('add', '.');
    await git('commit', '--quiet', '-m', 'One');
    const commit = await git('rev-parse', 'HEAD');
    assert.deepEqual(await gitStateOf(benchmarks), { commit, isDirty: false });

    await mkdir(join(benchmarks, 'shardboard-results'));
    await writeFile(join(benchmarks, 'shardboard-results', 'eval-1.json'), '{}');
    await writeFile(join(folder, 'elsewhere.txt'), '');
    assert.deepEqual(await gitStateOf(benchmarks), { commit, isDirty: false });
    await writeFile(join(benchmarks, 'words.py'), '# two');
    assert.deepEqual(await gitStateOf(benchmarks), { commit, isDirty: true });
  });

  it('is not known outside of a repository, without git, and where git fails', async () => {
    assert.equal(await gitStateOf(folder), undefined);
    assert.equal(await gitStateOf(folder, join(folder, 'nothing')), undefined);
    await writeFile(join(folder, 'git'), '#!/bin/sh\nexit 1\n');
    await chmod(join(folder, 'git'), 0o755);
    assert.equal(await gitStateOf(folder, folder), undefined);
  });
});
