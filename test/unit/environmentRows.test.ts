import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EnvironmentFacts, environmentRows } from '../../src/commands/environmentRows';
import type { PythonEnvironment } from '../../src/python/environment';
import { completeEnvironment, emptyEnvironment, rayEnvironment } from '../support/pythonEnvironments';

const base = { path: '/usr/bin/python3.13', version: '3.13.20' };

function rowsOf(environment: PythonEnvironment, change: Partial<EnvironmentFacts> = {}) {
  const found = { path: '/env/bin/python', from: "the workspace's .venv", environment };
  return environmentRows({ found, wantsGym: false, base: undefined, canChoose: false, ...change });
}

const labels = (rows: ReturnType<typeof rowsOf>): string[] =>
  rows.filter(({ isHeading }) => !isHeading).map(({ label }) => label);

test('shows the interpreter, where it is from, and what it has', () => {
  const rows = rowsOf(completeEnvironment);
  assert.deepEqual(rows[1], {
    label: '$(snake) Python 3.12.1',
    description: '/env/bin/python',
    detail: "From the workspace's .venv",
  });
  assert.deepEqual(labels(rows).slice(1), [
    '$(pass) Ray 2.60.0, with its dashboard',
    '$(pass) NeMo Evaluator 0.3.0',
    '$(pass) scipy',
    '$(gear) Open the setting shardboard.pythonPath',
  ]);
});

test('each thing that is missing has a row that says what it installs', () => {
  const rows = rowsOf(emptyEnvironment).filter(({ action }) => action?.kind === 'install');
  assert.deepEqual(rows, [
    {
      label: '$(cloud-download) Install Ray',
      description: 'ray[default]',
      detail: 'Ray is not installed.',
      action: { kind: 'install', python: '/env/bin/python', about: 'ray' },
    },
    {
      label: '$(cloud-download) Install NeMo Evaluator 0.3',
      description: 'nemo-evaluator[ray,stats]~=0.3.0',
      detail: 'NeMo Evaluator is not installed.',
      action: { kind: 'install', python: '/env/bin/python', about: 'evaluator' },
    },
  ]);
});

test('Gym is asked for where the workspace has its servers, and shown where it is', () => {
  const newer = { ...rayEnvironment, python: '3.13.14' };
  assert.ok(!labels(rowsOf(newer)).some((label) => label.includes('Gym')));
  assert.ok(labels(rowsOf(newer, { wantsGym: true })).includes('$(cloud-download) Install NeMo Gym'));
  assert.ok(labels(rowsOf({ ...newer, nemoGym: '0.7.0' })).includes('$(pass) NeMo Gym 0.7.0'));
  const old = labels(rowsOf({ ...completeEnvironment, nemoGym: '0.4.0' })).filter((label) => label.includes('Gym'));
  assert.equal(old.length, 1);
  assert.match(old[0] ?? '', /^\$\(warning\) .*It has NeMo Gym 0\.4\.0, which does not know ray_enabled\.$/);
});

test('another environment is offered where the one that is there will not do', () => {
  const offers = (rows: ReturnType<typeof rowsOf>): boolean => rows.some(({ action }) => action?.kind === 'make');
  assert.ok(!offers(rowsOf(completeEnvironment, { base })));
  assert.ok(!offers(rowsOf(emptyEnvironment, { base })));
  assert.ok(offers(rowsOf({ ...emptyEnvironment, python: '3.11.7' }, { base })));
  assert.ok(!offers(rowsOf({ ...emptyEnvironment, python: '3.11.7' })));
  assert.ok(offers(rowsOf({ ...emptyEnvironment, isVirtual: false, isManaged: true }, { base })));
  assert.ok(offers(environmentRows({ found: 'No Python was found.', wantsGym: false, base, canChoose: false })));
  // Too old for Gym, and the other one is not.
  assert.ok(offers(rowsOf(completeEnvironment, { base, wantsGym: true })));
  const tooOld = { ...base, version: '3.13.0' };
  assert.ok(!offers(rowsOf(completeEnvironment, { base: tooOld, wantsGym: true })));
});

test('the Python of the operating system gets no installation', () => {
  const rows = rowsOf({ ...emptyEnvironment, isVirtual: false, isManaged: true }, { base, wantsGym: true });
  assert.deepEqual(rows.filter(({ action }) => action?.kind === 'install').length, 0);
  assert.equal(new Set(labels(rows)).size, labels(rows).length);
});

test('the Python extension is offered where its choice would count', () => {
  const kinds = rowsOf(completeEnvironment, { canChoose: true }).flatMap(({ action }) => (action ? [action.kind] : []));
  assert.deepEqual(kinds, ['choose', 'setting']);
});
