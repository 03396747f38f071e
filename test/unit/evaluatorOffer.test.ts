import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NewRun, RunCluster } from '../../src/benchmark/runs';
import { createEvaluatorOffer } from '../../src/commands/evaluatorOffer';
import { createEmitter } from '../../src/common/emitter';
import type { UserError } from '../../src/common/userError';
import type { RunSnapshot } from '../../src/protocol/runSnapshot';
import { createFakeRay } from '../support/fakeRay';
import { sampleRun } from '../support/sampleRuns';

const run: NewRun = {
  benchmark: 'gsm8k',
  shards: 1,
  repeats: 1,
  maxProblems: null,
  modelUrl: 'http://127.0.0.1:1/v1',
  modelId: 'practice',
  key: { source: 'value', value: 'sk-secret' },
  requestsInFlight: 4,
  resultsFolder: '/results',
};

function openWindow() {
  const changed = createEmitter<string>();
  const snapshots = new Map<string, RunSnapshot>();
  const sent: NewRun[] = [];
  const told: UserError[] = [];
  const offer = createEvaluatorOffer(
    {
      onDidChange: changed.event,
      snapshot: (id) => snapshots.get(id),
      submit: async (one) => `run-${sent.push(one)}`,
    },
    (error) => void told.push(error),
  );
  const end = (id: string, change: Partial<RunSnapshot>): void => {
    snapshots.set(id, sampleRun([], { status: 'failed', reason: 'evaluator', message: 'It has none.', ...change }));
    changed.fire(id);
  };
  return { offer, sent, told, end };
}

const clusterOf = (sessionName: string): RunCluster => ({
  name: 'a',
  sessionName,
  startedHere: false,
  client: createFakeRay().client,
});

test('a run that found no evaluator is sent again with it, and so are those that follow on that cluster', async () => {
  const { offer, sent, told, end } = openWindow();
  const id = await offer.submit(run, clusterOf('session_1'));
  end(id, {});
  end(id, {});
  assert.equal(told.length, 1, 'it is offered once');
  assert.match(told[0]?.message ?? '', /^It has none\. Ray would fetch it/);
  assert.deepEqual(told[0]?.actions[0]?.args, [id]);
  assert.equal(await offer.take(id), 'run-2');
  await offer.submit(run, clusterOf('session_1'));
  await offer.submit(run, clusterOf('session_2'));
  assert.deepEqual(
    sent.map(({ bringsEvaluator }) => bringsEvaluator),
    [undefined, true, true, undefined],
  );
});

test('a run that failed although it brought the evaluator is not offered again', async () => {
  const { offer, told, end } = openWindow();
  end(await offer.submit(run, clusterOf('session_1')), {});
  end(await offer.take('run-1'), {});
  assert.equal(told.length, 1);
});

test('what ended otherwise is forgotten, with its key', async () => {
  const { offer, told, end } = openWindow();
  const id = await offer.submit(run, clusterOf('session_1'));
  end(id, { reason: 'endpoint' });
  end(id, { reason: 'evaluator' });
  assert.deepEqual(told, []);
  await assert.rejects(offer.take(id), /Submit it anew/);
});
