import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseHeader, readToken, tokenSourcesOfRay, withHeader } from '../../src/cluster/clusterAccess';

async function makeHome(t: TestContext, token?: string): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'home-'));
  t.after(() => rm(home, { recursive: true }));
  if (token !== undefined) {
    await mkdir(join(home, '.ray'));
    await writeFile(join(home, '.ray', 'auth_token'), token);
  }
  return home;
}

test("the tokens that Ray would use are found in Ray's order", async (t) => {
  const HOME = await makeHome(t, 'in-the-file\n');
  const named = join(HOME, 'named');
  await writeFile(named, 'in-the-named-file');
  const file = { from: 'file', path: join(HOME, '.ray', 'auth_token') };
  assert.deepEqual(await tokenSourcesOfRay({ HOME }), [file]);
  assert.deepEqual(await tokenSourcesOfRay({ HOME, RAY_AUTH_TOKEN: 'x', RAY_AUTH_TOKEN_PATH: named }), [
    { from: 'environment' },
    { from: 'file', path: named },
    file,
  ]);
});

test('a file that is missing, empty or no token is no source', async (t) => {
  assert.deepEqual(await tokenSourcesOfRay({ HOME: await makeHome(t) }), []);
  assert.deepEqual(await tokenSourcesOfRay({ HOME: await makeHome(t, '\n') }), []);
  assert.deepEqual(await tokenSourcesOfRay({ HOME: await makeHome(t, 'two words'), RAY_AUTH_TOKEN_PATH: '/no' }), []);
});

test('a token is read anew each time, and its absence is told', async (t) => {
  const HOME = await makeHome(t, 'one\n');
  const [source] = await tokenSourcesOfRay({ HOME });
  assert.equal(await readToken(source), 'one');
  await writeFile(join(HOME, '.ray', 'auth_token'), 'two');
  assert.equal(await readToken(source), 'two');
  await rm(join(HOME, '.ray', 'auth_token'));
  await assert.rejects(readToken(source), /auth_token, and is not there any more/);
  assert.equal(await readToken({ from: 'environment' }, { RAY_AUTH_TOKEN: 'three' }), 'three');
  await assert.rejects(readToken({ from: 'environment' }, {}), /RAY_AUTH_TOKEN, and is not/);
  assert.equal(await readToken(undefined), undefined);
});

test('a header is read as people write it', () => {
  assert.deepEqual(parseHeader('X-Api-Key: 12 34 '), { name: 'x-api-key', value: '12 34' });
  assert.deepEqual(parseHeader('cookie:a=b; c=d'), { name: 'cookie', value: 'a=b; c=d' });
  for (const text of [
    '',
    'X-Api-Key',
    'X-Api-Key:',
    'two words: 1',
    'X: a\nY: b',
    'Host: evil',
    'Origin: x',
    'TE: x',
  ]) {
    assert.ok('problem' in parseHeader(text), text);
  }
});

test('a header is added to what is there, and one that authorizes takes the place of the token', () => {
  const token = { from: 'typed', token: 'secret' } as const;
  const before = { token, headers: { a: '1' } };
  assert.deepEqual(withHeader(before, { name: 'b', value: '2' }), { token, headers: { a: '1', b: '2' } });
  const header = { name: 'authorization', value: 'Basic x' };
  assert.deepEqual(withHeader(before, header), { headers: { a: '1', authorization: 'Basic x' } });
});
