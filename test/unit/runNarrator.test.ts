import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRunNarrator } from '../../src/commands/runNarrator';
import { sampleRun, sampleShard } from '../support/sampleRuns';

describe('a run told in lines', () => {
  it('has a line for each state, and for each twentieth of the answers', () => {
    const narrate = createRunNarrator();
    const at = (done: number, change = {}) =>
      narrate(sampleRun([sampleShard(0, done)], change))?.replaceAll('\u00a0', ' ');
    assert.equal(at(0, { status: 'pending', stage: null }), 'Waiting for Ray to start the run');
    assert.equal(at(0), 'Waiting for the first answer');
    assert.match(at(1) ?? '', /^Running, 1 of 2,638 answers\. Mean reward so far /);
    assert.equal(at(100), undefined);
    assert.match(at(140) ?? '', /^Running, 140 of 2,638 answers/);
    assert.equal(at(141), undefined);
    assert.match(at(330, { status: 'stopped' }) ?? '', /^Cancelled after 330 of 2,638 answers/);
  });
});
