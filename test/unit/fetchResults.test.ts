import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { fetchResults, type RemoteResults } from '../../src/benchmark/fetchResults';
import { parseDriverLine } from '../../src/protocol/driverEvents';

describe('fetching results', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fetch-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** A cluster that hands these files out in small pieces. */
  const client = (files: Readonly<Record<string, string>>, asked: string[] = []) => ({
    async readLogFile(_node: string, path: string, read: (body: AsyncIterable<Uint8Array>) => Promise<void>) {
      asked.push(path);
      const bytes = Buffer.from(files[path] ?? '');
      await read(
        (async function* () {
          for (let at = 0; at < bytes.length; at += 3) {
            yield bytes.subarray(at, at + 3);
          }
        })(),
      );
    },
  });

  const results = (files: Readonly<Record<string, string>>): RemoteResults => ({
    v: 2,
    t: 1,
    type: 'files',
    node: '4f2a',
    folder: 'shardboard/run-1',
    files: Object.entries(files).map(([name, text]) => ({
      name,
      size: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
    })),
  });

  it('brings every file here, byte for byte', async () => {
    const files = { 'results.jsonl': '{"answer":"fünf 🎉"}\n', 'answers/1-000.jsonl': '{}\n' };
    const asked: string[] = [];
    const there = Object.fromEntries(Object.entries(files).map(([name, text]) => [`shardboard/run-1/${name}`, text]));
    await fetchResults(client(there, asked), results(files), folder);
    assert.equal(await readFile(join(folder, 'results.jsonl'), 'utf8'), files['results.jsonl']);
    assert.equal(await readFile(join(folder, 'answers', '1-000.jsonl'), 'utf8'), '{}\n');
    assert.deepEqual(asked, Object.keys(there));
  });

  it('keeps nothing that did not come whole, and what was there before stays', async () => {
    await writeFile(join(folder, 'results.jsonl'), 'before');
    const cut = client({ 'shardboard/run-1/results.jsonl': '{"answer"' });
    await assert.rejects(
      fetchResults(cut, results({ 'results.jsonl': '{"answer":1}\n' }), folder),
      /results\.jsonl did not come whole: 9 of 13 bytes/,
    );
    assert.equal(await readFile(join(folder, 'results.jsonl'), 'utf8'), 'before');
    assert.deepEqual(await readdir(folder), ['results.jsonl']);
  });

  it('says that it is this machine that cannot keep them', async () => {
    await mkdir(join(folder, 'results.jsonl.unfinished'));
    await assert.rejects(
      fetchResults(client({}), results({ 'results.jsonl': 'x' }), folder),
      /cannot be kept in .*EISDIR/,
    );
  });

  for (const name of ['../out', '/etc/passwd', 'a/../../b', '.hidden', 'a\\b', '']) {
    it(`does not believe a name like ${JSON.stringify(name)}`, () => {
      const event = { ...results({}), files: [{ name, size: 1, sha256: '0'.repeat(64) }] };
      assert.ok(parseDriverLine(`@shardboard ${JSON.stringify(event)}`) instanceof Error);
    });
  }
});
