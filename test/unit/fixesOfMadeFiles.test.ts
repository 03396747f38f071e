/** Files made from a seed: whatever stands in them, a fix that is offered mends what it is offered for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixAll } from '../../src/gym/fixAll';
import { changesFor, hasOneSafeFix } from '../../src/gym/fixProblem';
import { applyChanges } from '../../src/gym/flagEdits';
import { findProblems, type GymProblem, type ProblemContext, type ProblemFix } from '../../src/gym/problems';
import { readServers } from '../../src/gym/readServers';
import { withTree } from '../../src/python/parser';
import { usePythonParser } from '../support/pythonGrammar';
import { seededRandom } from '../support/seededRandom';

const FILES = 200;

/** More often than this, fixing all must not find something new to fix. */
const MOST_ROUNDS = 4;

const USE = { startLine: 0, startColumn: 0, endLine: 0, endColumn: 10 };
const CONTEXTS: readonly ProblemContext[] = [
  { gym: '0.7', rayUse: 'unknown' },
  { gym: 'later', rayUse: 'none' },
  { gym: '0.7', rayUse: { file: '/lib.py', use: { range: USE, text: 'import ray' } } },
];

const IMPORTS = [
  'import os',
  'import sys',
  'import sys as system',
  'import typing as t',
  'from typing import ClassVar as CV',
  'from typing import ClassVar',
  'import ray',
  'from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n\tfrom typing import ClassVar\n\timport sys',
  'try:\n\timport typing\nexcept ImportError:\n\tpass',
];

const STATEMENTS = [
  'ray_enabled = True',
  'ray_enabled = False',
  'ray_enabled = False  # 😀',
  'ray_enabled = None',
  'ray_enabled: bool = True',
  'ray_enabled: "bool | None" = False',
  'ray_enabled: bool',
  'ray_enabled: ClassVar[bool] = False',
  'ray_enabled: t.ClassVar[bool]',
  'ray_enabled: CV[bool] = True',
  'ray_enabled: Final = True',
  'ray_enabled = f()',
  'ray_enabled = other = False',
  'ray_enabled = \\\n\tTrue',
  'ray_enabled = (\n\tFalse\n)',
  'x = 1; ray_enabled = False',
  'ray_enabled = False; x = 1',
  'ray_enabled: bool = True; x = 1',
  'ray_enabled |= f()',
  '(ray_enabled) = True',
  'ray_enabled, x = True, 1',
  'del ray_enabled',
  'x = 1; del ray_enabled',
  'global ray_enabled',
  'if f():\n\tray_enabled = True',
  'if f():\n\tray_enabled: bool = True',
  'for ray_enabled in f(): pass',
  'def ray_enabled(self): pass',
  'x = f(ray_enabled=True)',
  'x = ray_enabled',
  'def go(self):\n\tself.ray_enabled = True',
  'class Inner:\n\tray_enabled = True',
  '# ray_enabled = True',
  'x: int = 1',
  'pass',
];

const ENDS = [
  'S.run_webserver()',
  'if __name__ == "__main__":\n\tS.run_webserver()',
  'A = S\nA.run_webserver()',
  'S.ray_enabled = True\nS.run_webserver()',
  '',
];

const parser = usePythonParser();

type Random = () => number;

const pick = <T>(random: Random, from: readonly T[]): T => {
  const one = from[Math.floor(random() * from.length)];
  assert.ok(one !== undefined);
  return one;
};

const several = (random: Random, from: readonly string[], most: number): string[] =>
  Array.from({ length: Math.floor(random() * (most + 1)) }, () => pick(random, from));

function madeClass(random: Random, name: string, bases: readonly string[]): string {
  const header = `class ${name}(${bases.join(', ')}):`;
  if (random() < 0.1) {
    return `${header} ${pick(random, ['pass', 'ray_enabled = True', '"Doc."', 'x = 1; ray_enabled: bool = False'])}`;
  }
  const docstring = random() < 0.2 ? ['"""Doc\n\tof it."""'] : [];
  const body = [...docstring, ...several(random, STATEMENTS, 3)];
  const statements = body.some((statement) => !statement.startsWith('#')) ? body : [...body, 'pass'];
  return `${header}\n${statements.map((statement) => `\t${statement.replaceAll('\n', '\n\t')}`).join('\n')}`;
}

/** A file with a class S that comes from a server, in one of the ways in which files indent and end their lines. */
function madeFile(random: Random): string {
  const hasBase = random() < 0.4;
  const isMixed = random() < 0.2;
  const parts = [
    ...(random() < 0.2 ? ['"""Docs."""'] : []),
    ...(random() < 0.2 ? ['from __future__ import annotations'] : []),
    ...several(random, IMPORTS, 3),
    'from nemo_gym.base_resources_server import SimpleResourcesServer',
    ...(isMixed ? [madeClass(random, 'M', [])] : []),
    ...(hasBase ? [madeClass(random, 'B', ['SimpleResourcesServer'])] : []),
    madeClass(random, 'S', [...(isMixed ? ['M'] : []), hasBase ? 'B' : 'SimpleResourcesServer']),
    ...(random() < 0.2 ? ['@ray.remote\ndef g(): pass'] : []),
    ...(random() < 0.2 ? ['h = ray.remote(num_cpus=1)'] : []),
    ...several(random, IMPORTS, 1),
    pick(random, ENDS),
  ];
  const text = `${parts.join('\n')}${pick(random, ['\n', ''])}`;
  return text.replaceAll('\t', pick(random, ['    ', '\t', '  '])).replaceAll('\n', pick(random, ['\n', '\r\n']));
}

const read = (text: string) => withTree(parser(), text, (root) => readServers(root, text));

async function problemsOf(text: string, context: ProblemContext): Promise<GymProblem[]> {
  return findProblems(await read(text), context);
}

async function fixed(text: string, problem: GymProblem, fix: ProblemFix): Promise<string | undefined> {
  const changes = await withTree(parser(), text, (root) => changesFor(fix, problem.subject, root, text));
  return changes && applyChanges(text, changes);
}

/** What a problem is about: a class by its name, or the place of something remote among its like. */
function subjectsOf(text: string, problems: readonly GymProblem[], code: string): string[] {
  const lines = text.split('\n');
  return problems
    .filter((problem) => problem.code === code)
    .map(({ subject }) => lines[subject.startLine]?.slice(subject.startColumn, subject.endColumn) ?? '');
}

async function placeOf(text: string, name: string): Promise<GymProblem['subject']> {
  const place = (await read(text)).classes.find((one) => one.name === name)?.nameRange;
  assert.ok(place);
  return place;
}

test('a fix mends its problem, leaves what Python can parse, and finds nothing to do when it is done', async () => {
  const random = seededRandom(20);
  let count = 0;
  for (let made = 0; made < FILES; made++) {
    const text = madeFile(random);
    const context = pick(random, CONTEXTS);
    const problems = await problemsOf(text, context);
    for (const problem of problems) {
      for (const fix of problem.fixes) {
        const after = await fixed(text, problem, fix);
        if (after === undefined) {
          continue;
        }
        count++;
        const told = `${JSON.stringify(fix)} for ${problem.code}\n${text}\n--- gave ---\n${after}`;
        assert.ok((await read(after)).parses, told);
        const left = await problemsOf(after, context);
        const [before, now] = [problems, left].map((all, index) =>
          subjectsOf([text, after][index] ?? '', all, problem.code),
        );
        const [subject = ''] = subjectsOf(text, [problem], problem.code);
        assert.equal(
          now?.filter((one) => one === subject).length,
          (before?.filter((one) => one === subject).length ?? 0) - 1,
          told,
        );
        if (fix.kind === 'declare') {
          assert.equal(
            (await fixed(after, { ...problem, subject: await placeOf(after, subject) }, fix)) ?? after,
            after,
            told,
          );
        }
        const added = left.filter(
          ({ code, severity }) => severity === 'error' && !problems.some((one) => one.code === code),
        );
        assert.deepEqual(
          added.filter(({ code }) => code !== 'ray-used-but-off'),
          [],
          told,
        );
      }
    }
  }
  assert.ok(count > FILES, `only ${count} fixes were offered`);
});

test('fixing all ends, with nothing left that has one safe fix', async () => {
  const random = seededRandom(21);
  for (let made = 0; made < FILES; made++) {
    const context = pick(random, CONTEXTS);
    let text = madeFile(random);
    for (let round = 0; ; round++) {
      const problems = await problemsOf(text, context);
      const after = await fixAll(parser(), text, problems);
      assert.ok(!(await read(text)).parses || (await read(after)).parses, `${text}\n--- gave ---\n${after}`);
      if (after === text) {
        for (const problem of problems.filter(hasOneSafeFix)) {
          const [fix] = problem.fixes;
          assert.equal(fix && (await fixed(text, problem, fix)), undefined, text);
        }
        break;
      }
      assert.ok(round < MOST_ROUNDS, `no end\n${text}\n--- gave ---\n${after}`);
      text = after;
    }
  }
});
