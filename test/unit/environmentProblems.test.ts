import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PythonEnvironment } from '../../src/python/environment';
import { type EnvironmentUse, environmentProblems, type Package } from '../../src/python/environmentProblems';
import {
  compareVersions,
  isAtLeast,
  isSupportedEvaluator,
  REQUIREMENTS,
  SUPPORTED_EVALUATOR,
} from '../../src/python/supportedVersions';
import { projectRoot } from '../support/projectRoot';
import { completeEnvironment, emptyEnvironment, rayEnvironment } from '../support/pythonEnvironments';

test('a complete environment has no problems', () => {
  assert.deepEqual(environmentProblems(completeEnvironment, 'benchmark'), []);
  assert.deepEqual(environmentProblems({ ...completeEnvironment, python: '3.13.0' }, 'benchmark'), []);
  const withGym = { ...completeEnvironment, python: '3.13.14', nemoGym: '0.7.0' };
  assert.deepEqual(environmentProblems(withGym, 'gym'), []);
});

interface Lack {
  readonly name: string;
  readonly environment: PythonEnvironment;
  readonly use?: EnvironmentUse;
  readonly about: Package;
  readonly message: RegExp;
  readonly requirements: readonly string[];
}

const evaluator = 'nemo-evaluator[ray,stats]~=0.3.0';
const lacks: readonly Lack[] = [
  {
    name: 'no Ray',
    environment: emptyEnvironment,
    use: 'cluster',
    about: 'ray',
    message: /^Ray is not installed\.$/,
    requirements: ['ray[default]'],
  },
  {
    name: 'Ray without its dashboard',
    environment: { ...completeEnvironment, rayDefault: false },
    about: 'ray',
    message: /^Ray 2\.60\.0 is installed without its dashboard/,
    // Not another Ray than the one that is there.
    requirements: ['ray[default]==2.60.0'],
  },
  {
    name: 'no evaluator',
    environment: rayEnvironment,
    about: 'evaluator',
    message: /^NeMo Evaluator is not installed\.$/,
    requirements: [evaluator, 'ray==2.60.0'],
  },
  {
    name: 'an old evaluator, which is another product',
    environment: { ...completeEnvironment, nemoEvaluator: '0.2.8', stockLauncher: false },
    about: 'evaluator',
    message: /^NeMo Evaluator 0\.2\.8 is installed, and 0\.3 is supported\.$/,
    requirements: [evaluator, 'ray==2.60.0'],
  },
  {
    name: 'a newer evaluator, whose own launcher is named',
    environment: { ...completeEnvironment, nemoEvaluator: '0.4.0' },
    about: 'evaluator',
    message:
      /0\.4\.0 is installed, and 0\.3 is supported\. Its own launcher .*python -m nemo_evaluator\.engine\.ray_launcher/,
    requirements: [evaluator, 'ray==2.60.0'],
  },
  {
    name: 'no scipy',
    environment: { ...completeEnvironment, scipy: false },
    about: 'scipy',
    message: /^scipy is missing, .* after the last answer/,
    requirements: ['scipy>=1.10'],
  },
  {
    name: 'no Gym',
    environment: { ...completeEnvironment, python: '3.13.14' },
    use: 'gym',
    about: 'gym',
    message: /^NeMo Gym is not installed\.$/,
    requirements: ['nemo-gym>=0.7', 'ray==2.60.0'],
  },
  {
    name: 'an old Gym',
    environment: { ...emptyEnvironment, python: '3.13.14', nemoGym: '0.4.0' },
    use: 'gym',
    about: 'gym',
    message: /^NeMo Gym 0\.4\.0 is installed, which does not know ray_enabled\.$/,
    requirements: ['nemo-gym>=0.7'],
  },
];
for (const { name, environment, use = 'benchmark', about, message, requirements } of lacks) {
  test(`${name} is a problem of its own, with what installs exactly it`, () => {
    const [problem, ...others] = environmentProblems(environment, use);
    assert.deepEqual(others, []);
    assert.equal(problem?.about, about);
    assert.match(problem.message, message);
    assert.deepEqual(problem.fix?.requirements, requirements);
  });
}

test('what only benchmarks need does not keep a cluster from starting', () => {
  assert.deepEqual(environmentProblems(rayEnvironment, 'cluster'), []);
  const both = environmentProblems(emptyEnvironment, 'benchmark').map(({ about }) => about);
  assert.deepEqual(both, ['ray', 'evaluator']);
});

const unsuitable: readonly [name: string, change: Partial<PythonEnvironment>, use: EnvironmentUse, message: RegExp][] =
  [
    [
      'an old Python',
      { python: '3.11.7' },
      'benchmark',
      /3\.11\.7, .* 3\.12 or 3\.13: on this one, pip takes another product/,
    ],
    [
      'a Python too new',
      { python: '3.14.0' },
      'benchmark',
      /is Python 3\.14\.0, and NeMo Evaluator needs 3\.12 or 3\.13\.$/,
    ],
    ['a Python without its lock', { isOrdinary: false }, 'cluster', /a build of Python for which Ray has no packages/],
    [
      'a Python too old for Gym',
      { python: '3.13.0' },
      'gym',
      /3\.13\.14 or newer: on this one, pip takes an old NeMo Gym/,
    ],
  ];
for (const [name, change, use, message] of unsuitable) {
  test(`${name} is the only problem, and nothing is to be installed into it`, () => {
    const [problem, ...others] = environmentProblems({ ...emptyEnvironment, ...change }, use);
    assert.deepEqual(others, []);
    assert.equal(problem?.about, 'python');
    assert.match(problem.message, message);
    assert.equal(problem.fix, undefined);
  });
}

test('an old Gym that is there already is named with its Python', () => {
  const [problem] = environmentProblems({ ...emptyEnvironment, nemoGym: '0.4.0' }, 'gym');
  assert.match(problem?.message ?? '', /It has NeMo Gym 0\.4\.0, which does not know ray_enabled\.$/);
});

test('nothing is installed into the Python of the operating system, or where one may not write', () => {
  for (const [change, message] of [
    [{ isManaged: true, isVirtual: false }, /belongs to the operating system/],
    [{ isWritable: false }, /may not be changed by you/],
  ] as const) {
    const problems = environmentProblems({ ...emptyEnvironment, ...change }, 'benchmark');
    assert.match(problems[0]?.message ?? '', message);
    assert.deepEqual(
      problems.map(({ about, fix }) => [about, fix]),
      [
        ['python', undefined],
        ['ray', undefined],
        ['evaluator', undefined],
      ],
    );
    // Nor is that a reason against one that lacks nothing.
    assert.deepEqual(environmentProblems({ ...completeEnvironment, ...change }, 'benchmark'), []);
  }
});

test('versions are compared as numbers', () => {
  assert.ok(isAtLeast('3.13.14', '3.13.14'));
  assert.ok(isAtLeast('3.14.0', '3.13.14'));
  assert.ok(!isAtLeast('3.13.2', '3.13.14'));
  assert.ok(isAtLeast('0.10.0', '0.7'));
  assert.ok(compareVersions('3.9.1', '3.12.0') < 0);
  assert.ok(isSupportedEvaluator('0.3.1.dev4'));
  assert.ok(!isSupportedEvaluator('0.30.0'));
});

test('the driver, the project and the extension support the same evaluator', async () => {
  const read = (path: string): Promise<string> => readFile(join(projectRoot, path), 'utf8');
  assert.match(
    await read('driver/shardboard_driver/evaluator_check.py'),
    new RegExp(`^SUPPORTED = "${SUPPORTED_EVALUATOR}"$`, 'm'),
  );
  assert.match(
    await read('driver/requirements.in'),
    new RegExp(`^nemo-evaluator\\[ray,stats\\]==${SUPPORTED_EVALUATOR}\\.`, 'm'),
  );
  assert.match(await read('README.md'), new RegExp(`NeMo Evaluator ${SUPPORTED_EVALUATOR}\\b`));
  assert.equal(REQUIREMENTS.evaluator, evaluator);
});
