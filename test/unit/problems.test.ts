import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findProblems, type GymProblem, type ProblemContext } from '../../src/gym/problems';
import { readServers } from '../../src/gym/readServers';
import { withTree } from '../../src/python/parser';
import { usePythonParser } from '../support/pythonGrammar';

const parser = usePythonParser();

const IMPORT = 'from nemo_gym.base_resources_server import SimpleResourcesServer\n';
const USE = { startLine: 0, startColumn: 0, endLine: 0, endColumn: 10 };
const NOTHING_KNOWN: ProblemContext = { gym: '0.7', rayUse: 'unknown' };
const USES_RAY: ProblemContext = { gym: '0.7', rayUse: { file: '/lib.py', use: { range: USE, text: 'import ray' } } };

async function problemsOf(text: string, context: ProblemContext = NOTHING_KNOWN): Promise<GymProblem[]> {
  return findProblems(await withTree(parser(), text, (root) => readServers(root, text)), context);
}

const server = (body: string, start = 'S.run_webserver()'): string =>
  `${IMPORT}class S(SimpleResourcesServer):\n    ${body}\n\n${start}\n`;

const fixesOf = (problems: readonly GymProblem[]): string[] =>
  problems.flatMap(({ fixes }) =>
    fixes.map((fix) => ('value' in fix ? `${fix.kind} ${fix.value}${fix.asClassVar ? ' as ClassVar' : ''}` : fix.kind)),
  );

describe('one problem for one cause', () => {
  const cases: Readonly<Record<string, [string, string[], ProblemContext?]>> = {
    'a plain value': [server('ray_enabled = False'), []],
    'a class variable': [server('ray_enabled: ClassVar[bool] = True'), []],
    'nothing declared': [server('pass'), ['ray-enabled-not-declared']],
    'nothing declared, Ray used': [server('pass'), ['ray-enabled-not-declared'], USES_RAY],
    'nothing declared, nothing started': [server('pass', ''), []],
    'a field of the model': [server('ray_enabled: bool = False'), ['ray-enabled-model-field']],
    'declared twice': [server('ray_enabled = False\n    ray_enabled = True'), ['ray-enabled-declared-twice']],
    'a plain value, then one under a condition': [
      server('ray_enabled = False\n    if f():\n        ray_enabled = True'),
      ['ray-enabled-declared-twice'],
    ],
    'a plain value, then a computed one': [
      server('ray_enabled = False\n    ray_enabled |= f()'),
      ['ray-enabled-declared-twice'],
    ],
    'a plain value, then a computed one in its place': [
      server('ray_enabled = False\n    ray_enabled = f()'),
      ['ray-enabled-not-readable'],
    ],
    'a plain value that is taken back': [
      server('ray_enabled = False\n    del ray_enabled'),
      ['ray-enabled-not-declared'],
    ],
    computed: [server('ray_enabled = bool(1)'), ['ray-enabled-not-readable']],
    'an alias': [server('ray_enabled = True', 'A = S\nA.run_webserver()'), ['ray-enabled-not-readable']],
    inherited: [server('ray_enabled = True', 'class T(S): pass\nT.run_webserver()'), ['ray-enabled-not-readable']],
    'set outside': [
      server('ray_enabled = False', 'S.ray_enabled = True\nS.run_webserver()'),
      ['ray-enabled-set-outside'],
    ],
    'another file': ['from a import S\nS.run_webserver()\n', ['ray-enabled-not-readable']],
    'off, Ray used': [server('ray_enabled = False'), ['ray-used-but-off'], USES_RAY],
    'on, no Ray found': [server('ray_enabled = True'), ['ray-enabled-unused'], { gym: '0.7', rayUse: 'none' }],
    'on, not all followed': [server('ray_enabled = True'), []],
    'a Gym without the switch': [server('pass'), [], { gym: 'before 0.7', rayUse: 'unknown' }],
    'a Gym that ignores it': [
      server('ray_enabled = True'),
      ['ray-enabled-not-known'],
      { gym: 'before 0.7', rayUse: 'none' },
    ],
    'a remote function': ['import ray\n@ray.remote\ndef f(): pass\n', ['ray-remote-without-py-executable']],
    'a file that does not parse': [server('ray_enabled: bool = False', 'def ('), []],
  };
  for (const [name, [text, codes, context]] of Object.entries(cases)) {
    test(name, async () =>
      assert.deepEqual(
        (await problemsOf(text, context)).map(({ code }) => code),
        codes,
      ),
    );
  }
});

/** What each class keeps is what pydantic 2.14.4 leaves it, run with Gym's own base. */
describe('a type in a base that makes a field of the flag', () => {
  const B = 'class B(SimpleResourcesServer):\n    ray_enabled: bool = False\n';
  const M = 'class M(SimpleResourcesServer):\n    ray_enabled = True\n';
  const start = 'S.run_webserver()\n';
  const cases: Readonly<Record<string, [string, string[], string[], RegExp?]>> = {
    'takes the value of a class below': [
      `${B}class S(B):\n    ray_enabled = True\n${start}`,
      ['ray-enabled-model-field', 'ray-enabled-model-field'],
      ['annotate_class_var', 'drop_annotation', 'declare on as ClassVar'],
      /S keeps Gym's None.*does not see the True/,
    ],
    'takes what would be inherited': [
      `${B}class S(B): pass\n${start}`,
      ['ray-enabled-model-field', 'ray-enabled-model-field'],
      ['annotate_class_var', 'drop_annotation', 'declare off as ClassVar'],
      /S does not inherit the False that B declares.*keeps Gym's None/,
    ],
    'without a value takes it too': [
      `class B(SimpleResourcesServer):\n    ray_enabled: bool\nclass S(B): pass\n${start}`,
      ['ray-enabled-not-declared'],
      ['declare off as ClassVar', 'declare on as ClassVar'],
    ],
    'leaves a class variable': [
      `${B}class S(B):\n    ray_enabled: ClassVar[bool] = True\n${start}`,
      ['ray-enabled-model-field'],
      ['annotate_class_var', 'drop_annotation'],
    ],
    'leaves the value of another base': [
      `${B}${M}class S(B, M): pass\n${start}`,
      ['ray-enabled-model-field', 'ray-enabled-model-field'],
      ['annotate_class_var', 'drop_annotation', 'declare off as ClassVar', 'declare on as ClassVar'],
      /keeps the True of M/,
    ],
    'and comes after another one changes nothing of what is inherited': [
      `${B}${M}class S(M, B): pass\n${start}`,
      ['ray-enabled-model-field', 'ray-enabled-not-readable'],
      ['annotate_class_var', 'drop_annotation', 'declare on as ClassVar'],
    ],
    'is none in a class that is no model': [
      `class B:\n    ray_enabled: bool = True\nclass S(B, SimpleResourcesServer): pass\n${start}`,
      ['ray-enabled-not-readable'],
      ['declare on as ClassVar'],
    ],
    'comes after the type of Gym': [
      `from pydantic import BaseModel\nclass B(BaseModel):\n    ray_enabled: bool = True\nclass S(SimpleResourcesServer, B):\n    ray_enabled = True\n${start}`,
      ['ray-enabled-model-field'],
      ['annotate_class_var', 'drop_annotation'],
    ],
  };
  for (const [name, [text, codes, fixes, message]] of Object.entries(cases)) {
    test(name, async () => {
      const found = await problemsOf(`${IMPORT}from typing import ClassVar\n${text}`);
      assert.deepEqual(
        found.map(({ code }) => code),
        codes,
      );
      assert.deepEqual(fixesOf(found), fixes);
      assert.match(found.at(-1)?.message ?? '', message ?? /./);
    });
  }
});

test('what is advised comes first: Ray where it is used, none where it is not, else what is inherited', async () => {
  assert.deepEqual(fixesOf(await problemsOf(server('pass'))), ['declare off', 'declare on']);
  assert.deepEqual(fixesOf(await problemsOf(server('pass'), USES_RAY)), ['declare on', 'declare off']);
  const inherited = server('ray_enabled = True', 'class T(S): pass\nT.run_webserver()');
  assert.deepEqual(fixesOf(await problemsOf(inherited)), ['declare on']);
});

test('a problem says what the supervisor reads, where the server may have something else', async () => {
  const messageOf = async (body: string) => (await problemsOf(server(body)))[0]?.message ?? '';
  assert.match(
    await messageOf('ray_enabled = False\n    if f():\n        ray_enabled = True'),
    /gym env start reads False.*may have another.*Keep one/,
  );
  assert.match(await messageOf('ray_enabled = True\n    del ray_enabled'), /gym env start reads the True/);
  assert.match(await messageOf('global ray_enabled\n    ray_enabled = True'), /gym env start reads the True/);
  assert.doesNotMatch(await messageOf('pass'), /reads the/);
});

test('a problem says what the Gym of the environment does', async () => {
  const messageWith = async (gym: ProblemContext['gym']) =>
    (await problemsOf(server('pass'), { gym, rayUse: 'unknown' }))[0]?.message ?? '';
  assert.match(await messageWith('0.7'), /uses Ray and warns/);
  assert.match(await messageWith('later'), /does not connect it to Ray/);
});

test('a problem stands where the flag is written, in the columns of VS Code', async () => {
  const [found] = await problemsOf(server('note = "😀"; ray_enabled: bool = True'));
  assert.deepEqual(found?.range, { startLine: 2, startColumn: 17, endLine: 2, endColumn: 41 });
});
