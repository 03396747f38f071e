import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createJoinedStore, type JoinedStore } from '../../src/commands/joinedStore';

const A = 'https://a.example.com';
const B = 'https://b.example.com';

/** Workspaces of one user: what they remember is their own, the secret storage is shared. */
function makeWorkspaces(): {
  open: () => { store: JoinedStore; remembered: Map<string, unknown> };
  secrets: Map<string, string>;
} {
  const secrets = new Map<string, string>();
  const open = () => {
    const remembered = new Map<string, unknown>();
    const store = createJoinedStore({
      workspaceState: {
        keys: () => [...remembered.keys()],
        get: <T>(key: string) => remembered.get(key) as T | undefined,
        update: async (key: string, value: unknown) => {
          remembered.set(key, value);
        },
      },
      secrets: {
        keys: async () => [...secrets.keys()],
        get: async (key) => secrets.get(key),
        store: async (key, value) => void secrets.set(key, value),
        delete: async (key) => void secrets.delete(key),
        onDidChange: () => ({ dispose: () => undefined }),
      },
    });
    return { store, remembered };
  };
  return { open, secrets };
}

test('each cluster gets its own token, and none gets that of another', async () => {
  const { open } = makeWorkspaces();
  const [one, two] = [open().store, open().store];
  await one.save({ url: A, access: { token: { from: 'typed', token: 'token-of-a' } } });
  await two.save({ url: B, access: { token: { from: 'typed', token: 'token-of-b' }, headers: { cookie: 'x' } } });
  assert.deepEqual(await one.load(), {
    url: A,
    access: { token: { from: 'typed', token: 'token-of-a' }, headers: undefined },
  });
  assert.deepEqual((await two.load())?.access.token, { from: 'typed', token: 'token-of-b' });
  assert.equal(await one.accessTo('https://c.example.com'), undefined);
  assert.deepEqual((await one.accessTo(B))?.headers, { cookie: 'x' });
});

test('what is secret is in the secret storage only', async () => {
  const { open, secrets } = makeWorkspaces();
  const { store, remembered } = open();
  await store.save({
    url: A,
    access: { token: { from: 'typed', token: 'CANARY-1' }, headers: { cookie: 'CANARY-2' } },
  });
  assert.doesNotMatch(JSON.stringify([...remembered]), /CANARY/);
  assert.match(JSON.stringify([...secrets]), /CANARY-1.*CANARY-2/);
});

test('a token that is found in a place is remembered by the place', async () => {
  const { open, secrets } = makeWorkspaces();
  const { store } = open();
  await store.save({ url: A, access: { token: { from: 'typed', token: 'old' } } });
  await store.save({ url: A, access: { token: { from: 'file', path: '/home/me/.ray/auth_token' } } });
  assert.equal(secrets.size, 0, 'the old token is not kept');
  assert.deepEqual((await store.load())?.access.token, { from: 'file', path: '/home/me/.ray/auth_token' });
  assert.equal(await store.accessTo(B), undefined);
});

test('leaving forgets the address and its secret, and no other', async () => {
  const { open, secrets } = makeWorkspaces();
  const [one, two] = [open().store, open().store];
  await one.save({ url: A, access: { token: { from: 'typed', token: 'a' } } });
  await two.save({ url: B, access: { token: { from: 'typed', token: 'b' } } });
  await one.forget();
  assert.equal(await one.load(), undefined);
  assert.equal(secrets.size, 1);
  assert.equal((await two.load())?.url, B);
});

test('what cannot be read is as if there was none', async () => {
  const { open, secrets } = makeWorkspaces();
  const { store, remembered } = open();
  remembered.set('joinedCluster', { url: 7 });
  assert.equal(await store.load(), undefined);
  remembered.set('joinedCluster', { url: A });
  secrets.set(`joinedCluster:${A}`, 'not JSON');
  assert.deepEqual(await store.load(), { url: A, access: {} });
});
