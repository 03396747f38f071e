import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterAccess, JoinedCluster, TokenSource } from '../../src/cluster/clusterAccess';
import { type JoinOptions, joinWithAccess } from '../../src/cluster/joinCluster';
import { RayError } from '../../src/ray/rayError';

const HERE = 'http://127.0.0.1:8265';
const AWAY = 'http://ray.example.com:8265';
const SAFE = 'https://ray.example.com';
const typed = (token: string): ClusterAccess => ({ token: { from: 'typed', token } });
const file: TokenSource = { from: 'file', path: '~/.ray/auth_token' };
const environment: TokenSource = { from: 'environment' };

/** Joins a cluster that takes one access only; answers what was tried and asked, in order. */
async function tryToJoin(options: {
  url: string;
  taken: ClusterAccess | undefined;
  kept?: ClusterAccess;
  answers?: readonly ClusterAccess[];
  agrees?: boolean;
  askFirst?: boolean;
}): Promise<readonly unknown[]> {
  const { url, taken, kept, answers = [], agrees = true, askFirst = false } = options;
  const events: unknown[] = [];
  const left = [...answers];
  const questions: JoinOptions['questions'] = {
    async access(refusal, sources, before) {
      events.push('asked');
      assert.deepEqual(sources, [environment, file]);
      assert.ok(before);
      assert.equal(refusal === undefined, events.length === 1, 'the refusal is told, once there is one');
      const answer = left.shift();
      if (!answer) {
        throw new Error('left');
      }
      return answer;
    },
    async sendReadable() {
      events.push('told');
      if (!agrees) {
        throw new Error('left');
      }
    },
  };
  const join = async (cluster: JoinedCluster): Promise<void> => {
    assert.equal(cluster.url, url);
    events.push(cluster.access);
    if (JSON.stringify(cluster.access) !== JSON.stringify(taken)) {
      throw new RayError(cluster.access.token ? 'forbidden' : 'unauthorized', 'refused');
    }
  };
  const sources = [environment, file];
  await joinWithAccess({ url, join, kept, sources, questions, askFirst }).catch((error: Error) => {
    events.push(error.message);
  });
  return events;
}

test('an open cluster gets nothing', async () => {
  assert.deepEqual(await tryToJoin({ url: AWAY, taken: {} }), [{}]);
});

test('a cluster on this machine gets the tokens that Ray would use, one after the other, without a question', async () => {
  const taken = { token: file };
  assert.deepEqual(await tryToJoin({ url: HERE, taken }), [{}, { token: environment }, taken]);
});

test('another host gets none of them until a person says so, and in clear only when they were told', async () => {
  const taken = { token: file };
  assert.deepEqual(await tryToJoin({ url: AWAY, taken }), [{}, 'asked', 'left']);
  assert.deepEqual(await tryToJoin({ url: AWAY, taken, answers: [taken] }), [{}, 'asked', 'told', taken]);
  assert.deepEqual(await tryToJoin({ url: AWAY, taken, answers: [taken], agrees: false }), [
    {},
    'asked',
    'told',
    'left',
  ]);
  assert.deepEqual(await tryToJoin({ url: SAFE, taken, answers: [taken] }), [{}, 'asked', taken]);
});

test('a token that is not accepted is asked for again, and what goes in clear is told once', async () => {
  const [wrong, right] = [typed('wrong'), typed('right')];
  assert.deepEqual(await tryToJoin({ url: AWAY, taken: right, answers: [wrong, right] }), [
    {},
    'asked',
    'told',
    wrong,
    'asked',
    right,
  ]);
});

test('what was kept for the cluster comes first', async () => {
  const kept = typed('kept');
  assert.deepEqual(await tryToJoin({ url: AWAY, taken: kept, kept }), [kept]);
  assert.deepEqual(await tryToJoin({ url: AWAY, taken: {}, kept }), [kept, {}]);
});

test('what a proxy wants goes along with every try', async () => {
  const headers = { cookie: 'session=1' };
  const taken = { headers, token: file };
  assert.deepEqual(await tryToJoin({ url: HERE, taken, kept: { headers } }), [
    { headers },
    { headers, token: environment },
    taken,
  ]);
});

test('a person who knows of a proxy is asked before anything is tried', async () => {
  const taken = { headers: { cookie: 'session=1' } };
  assert.deepEqual(await tryToJoin({ url: SAFE, taken, answers: [taken], askFirst: true }), ['asked', taken]);
});

test('a cluster that cannot be reached is not asked for a token', async () => {
  const join = async (): Promise<void> => {
    throw new RayError('unreachable', 'Nothing answers');
  };
  const questions: JoinOptions['questions'] = {
    access: () => assert.fail('asked'),
    sendReadable: () => assert.fail('asked'),
  };
  const joining = joinWithAccess({ url: AWAY, join, kept: undefined, sources: [file], questions });
  await assert.rejects(joining, /Nothing answers/);
});
