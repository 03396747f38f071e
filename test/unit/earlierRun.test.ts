import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as v from 'valibot';
import { earlierRunOf } from '../../src/benchmark/earlierRun';
import { runRequest } from '../../src/protocol/runRequest';
import type { RunSnapshot } from '../../src/protocol/runSnapshot';
import { sampleRun, sampleShard } from '../support/sampleRuns';

interface Kept {
  readonly snapshot: Partial<RunSnapshot>;
  readonly request?: object;
  readonly own?: { file: string; name: string };
}

/** A history of these runs, the oldest first; each took a minute. */
function history(...runs: readonly Kept[]) {
  const kept = runs.map(({ snapshot, request, own }, index) => {
    const id = `run-${index}`;
    const submittedAt = 1_000_000;
    const outputFolder = `/results/${id}`;
    return {
      snapshot: sampleRun([sampleShard(0, 330), sampleShard(4, 330)], {
        ...{ id, outputFolder, submittedAt, endedAt: submittedAt + 60_000, status: 'complete', problems: 330 },
        ...snapshot,
      }),
      told: {
        own: own ?? null,
        request: v.parse(runRequest, {
          ...{ version: 2, benchmark: 'gsm8k', shards: 2, repeats: 2, modelUrl: 'http://127.0.0.1/v1', modelId: 'm' },
          ...{ key: { source: 'none' }, requestsInFlight: 16, outputFolder },
          ...request,
        }),
      },
    };
  });
  return {
    all: () => kept.map(({ snapshot }) => snapshot.id),
    snapshot: (id: string) => kept.find(({ snapshot }) => snapshot.id === id)?.snapshot,
    requestOf: (id: string) => kept.find(({ snapshot }) => snapshot.id === id)?.told,
  };
}

describe('what the history tells about a run', () => {
  it('is nothing without a run of the same benchmark that loaded it', () => {
    assert.equal(earlierRunOf(history(), 'gsm8k', 'm'), undefined);
    assert.equal(earlierRunOf(history({ snapshot: { problems: 0 } }), 'gsm8k', 'm'), undefined);
    assert.equal(earlierRunOf(history({ snapshot: {} }), 'mmlu', 'm'), undefined);
    assert.equal(earlierRunOf(history({ snapshot: {} }), { file: '/a.py', name: 'gsm8k' }, 'm'), undefined);
  });

  it('is the last run with the same model, and the size from whichever told it', () => {
    const told = earlierRunOf(
      history(
        { snapshot: { problems: 1319 }, request: { modelId: 'other' } },
        { snapshot: { tokens: 1000 }, request: { maxProblems: 330 } },
        { snapshot: { answered: 0 }, request: { maxProblems: 330 } },
      ),
      'gsm8k',
      'm',
    );
    assert.deepEqual(told, {
      datasetSize: 1319,
      answered: 660,
      tokens: 1000,
      requestsInFlight: 16,
      tookMs: 60_000,
      medianLatencyMs: 55,
    });
  });

  it("knows the user's own benchmark by its file", () => {
    const own = { file: '/work/words.py', name: 'words' };
    assert.equal(earlierRunOf(history({ snapshot: {}, own }), own, 'm')?.datasetSize, 330);
    assert.equal(earlierRunOf(history({ snapshot: {}, own }), { ...own, file: '/other/words.py' }, 'm'), undefined);
  });

  it('tells a time only of a whole run that found nothing in its folder', () => {
    const tookMs = (snapshot: Partial<RunSnapshot>) => earlierRunOf(history({ snapshot }), 'gsm8k', 'm')?.tookMs;
    assert.equal(tookMs({}), 60_000);
    assert.equal(tookMs({ status: 'stopped' }), null);
    assert.equal(tookMs({ outputFolder: '/results/an-earlier-run' }), null);
  });
});
