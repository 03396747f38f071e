import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createPracticeModel, type PracticeModel } from '../../src/benchmark/practiceModel';

describe('the practice model as a process', () => {
  let folder: string;
  let model: PracticeModel;
  const open = (): PracticeModel =>
    createPracticeModel({
      script: join(process.cwd(), 'samples', 'practice_model.mjs'),
      node: process.execPath,
      storageFolder: folder,
    });
  const settings = { latencyMs: 0, rightShare: 0.7 };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shardboard-practice-'));
    model = open();
  });
  afterEach(async () => {
    await model.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('is found again by the next window instead of started twice, and stopped by it', async () => {
    const url = await model.start(settings);
    model = open();
    assert.equal(await model.start(settings), url);
    await model.stop();
    assert.equal(model.url(), undefined);
    await model.restore();
    assert.equal(model.url(), undefined);
  });

  it('does not take another process for it, though it was remembered at that address', async () => {
    const url = await model.start(settings);
    const other = await mkdtemp(join(tmpdir(), 'shardboard-practice-'));
    try {
      await writeFile(join(other, 'practice-model.json'), JSON.stringify({ url, pid: process.pid }));
      const mistaken = createPracticeModel({ script: '', node: process.execPath, storageFolder: other });
      await mistaken.stop();
      await model.restore();
      assert.equal(model.url(), url);
    } finally {
      await rm(other, { recursive: true, force: true });
    }
  });

  it('says why it cannot be started', async () => {
    const broken = createPracticeModel({
      script: join(folder, 'none.mjs'),
      node: process.execPath,
      storageFolder: folder,
    });
    await assert.rejects(broken.start(settings), /practice model could not be started: it ended with exit code 1/);
  });
});
