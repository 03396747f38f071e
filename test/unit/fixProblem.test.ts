import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { changesFor, hasOneSafeFix, silencingChange } from '../../src/gym/fixProblem';
import { applyChanges } from '../../src/gym/flagEdits';
import { findProblems, type GymProblem, type ProblemFix } from '../../src/gym/problems';
import { readServers } from '../../src/gym/readServers';
import { readSilencing } from '../../src/gym/silencing';
import { withTree } from '../../src/python/parser';
import { usePythonParser } from '../support/pythonGrammar';

const parser = usePythonParser();

const problemsOf = (text: string): Promise<GymProblem[]> =>
  withTree(parser(), text, (root) => findProblems(readServers(root, text), { gym: '0.7', rayUse: 'unknown' }));

/** The text after the first fix of that kind, and the problems that are left in it. */
async function fixed(text: string, kind: ProblemFix['kind']): Promise<[string, string[]]> {
  const problem = (await problemsOf(text)).find(({ fixes }) => fixes.some((fix) => fix.kind === kind));
  const fix = problem?.fixes.find((one) => one.kind === kind);
  assert.ok(problem && fix, 'no such fix is offered');
  const changes = await withTree(parser(), text, (root) => changesFor(fix, problem.subject, root, text));
  assert.ok(changes, 'the fix changes nothing');
  const after = applyChanges(text, changes);
  return [after, (await problemsOf(after)).map(({ code }) => code)];
}

const GYM = 'from nemo_gym.base_resources_server import SimpleResourcesServer\n';
const server = (...body: string[]): string =>
  `${GYM}\n\nclass S(SimpleResourcesServer):\n${body.map((line) => `    ${line}\n`).join('')}\n\nS.run_webserver()\n`;

describe('an annotation becomes a class variable', () => {
  test('with an import', async () => {
    const [text, left] = await fixed(server('ray_enabled: bool = True'), 'annotate_class_var');
    assert.equal(text, `from typing import ClassVar\n${server('ray_enabled: ClassVar[bool] = True')}`);
    assert.deepEqual(left, []);
  });

  test('without a second import, and out of its quotes', async () => {
    const before = `from typing import Any, ClassVar\n${server("ray_enabled: 'bool | None' = False")}`;
    const [text, left] = await fixed(before, 'annotate_class_var');
    assert.equal(text, `from typing import Any, ClassVar\n${server('ray_enabled: ClassVar[bool | None] = False')}`);
    assert.deepEqual(left, []);
  });

  test('below a docstring and imports from the future, with the line ends of the file', async () => {
    const before = `"""Docs."""\nfrom __future__ import annotations\n${server('ray_enabled: bool = True')}`;
    const [text, left] = await fixed(before.replaceAll('\n', '\r\n'), 'annotate_class_var');
    assert.ok(text.startsWith('"""Docs."""\r\nfrom __future__ import annotations\r\nfrom typing import ClassVar\r\n'));
    assert.equal(/[^\r]\n/.test(text), false);
    assert.deepEqual(left, []);
  });
});

describe('a name that a fix needs', () => {
  const field = server('ray_enabled: bool = True');
  const asClassVar: Readonly<Record<string, [string, string, string]>> = {
    'that has another name in the file is used by that': ['from typing import ClassVar as CV\n', '', 'CV'],
    'is found in its module': ['import os, typing as t\n', '', 't.ClassVar'],
    'may come from typing_extensions': ['from typing_extensions import ClassVar\n', '', 'ClassVar'],
    'that is there only for type checking is imported': [
      'from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from typing import ClassVar\n',
      'from typing import ClassVar\n',
      'ClassVar',
    ],
    'that may be there is imported': [
      'import os\nif f():\n    import typing\n',
      'from typing import ClassVar\n',
      'ClassVar',
    ],
  };
  for (const [name, [imports, added, used]] of Object.entries(asClassVar)) {
    test(name, async () => {
      const [text, left] = await fixed(`${imports}${field}`, 'annotate_class_var');
      assert.equal(text, `${added}${imports}${server(`ray_enabled: ${used}[bool] = True`)}`);
      assert.deepEqual(left, []);
    });
  }

  test('that is bound only below is imported, above the class', async () => {
    const [text, left] = await fixed(`${field}from typing import ClassVar\n`, 'annotate_class_var');
    const after = server('ray_enabled: ClassVar[bool] = True');
    assert.equal(text, `from typing import ClassVar\n${after}from typing import ClassVar\n`);
    assert.deepEqual(left, []);
  });

  test('is imported above what uses it, where all imports are below', async () => {
    const text = '"Docs."\n\n\nclass S(SimpleServer):\n    ray_enabled: bool = True\n\n\nimport os\n';
    const [after] = await fixed(text, 'annotate_class_var');
    assert.ok(after.startsWith('"Docs."\n\n\nfrom typing import ClassVar\nclass S'), after);
  });

  test('is that of the module: sys under another name', async () => {
    const text = 'import sys as system\nimport ray\n\n\n@ray.remote\ndef f(): pass\n';
    const [after, left] = await fixed(text, 'give_py_executable');
    assert.equal(after, text.replace('@ray.remote', '@ray.remote(runtime_env={"py_executable": system.executable})'));
    assert.deepEqual(left, []);
  });

  test('that means something else in the file leaves the fix out', async () => {
    const text = 'from mine import sys\nimport ray\n\n\n@ray.remote\ndef f(): pass\n';
    await assert.rejects(() => fixed(text, 'give_py_executable'), /changes nothing/);
  });
});

describe('something remote gets its own Python', () => {
  const cases: readonly [string, string][] = [
    ['@ray.remote', '@ray.remote(runtime_env={"py_executable": sys.executable})'],
    ['@ray.remote()', '@ray.remote(runtime_env={"py_executable": sys.executable})'],
    ['@ray.remote(num_cpus=1)', '@ray.remote(num_cpus=1, runtime_env={"py_executable": sys.executable})'],
    ['@ray.remote(runtime_env={})', '@ray.remote(runtime_env={"py_executable": sys.executable})'],
    [
      '@ray.remote(runtime_env={"pip": ["x"]}, num_cpus=1)',
      '@ray.remote(runtime_env={"py_executable": sys.executable, "pip": ["x"]}, num_cpus=1)',
    ],
  ];
  for (const [before, after] of cases) {
    test(before, async () => {
      const [text, left] = await fixed(`import ray\n\n\n${before}\ndef f(): pass\n`, 'give_py_executable');
      assert.equal(text, `import sys\nimport ray\n\n\n${after}\ndef f(): pass\n`);
      assert.deepEqual(left, []);
    });
  }

  test('but not what is made remote in a call: Ray takes options or something to make remote, never both', async () => {
    const text = 'import sys\nimport ray\nf = ray.remote(g)\n';
    const [problem] = await problemsOf(text);
    const [fix] = problem?.fixes ?? [];
    assert.ok(problem && fix);
    assert.equal(await withTree(parser(), text, (root) => changesFor(fix, problem.subject, root, text)), undefined);
  });
});

test('a declared value takes the place of a type that would make a field of it', async () => {
  const [text, left] = await fixed(server('ray_enabled: bool'), 'declare');
  assert.equal(text, server('ray_enabled = False'));
  assert.deepEqual(left, []);
});

test('a comment silences a problem, and only that one', async () => {
  const text = server('ray_enabled: bool = True').replaceAll('\n', '\r\n');
  const [problem] = await problemsOf(text);
  assert.ok(problem);
  const silenced = applyChanges(text, [silencingChange(problem.code, problem.range.startLine, text)]);
  assert.ok(silenced.includes('\r\n    # shardboard: ignore[ray-enabled-model-field]\r\n    ray_enabled: bool'));
  const isSilenced = await withTree(parser(), silenced, (root) => readSilencing(root, silenced));
  assert.deepEqual((await problemsOf(silenced)).map(isSilenced), [true]);
});

test('what is only advice is not mended with everything else', async () => {
  const [undeclared] = await problemsOf(server('pass'));
  const [field] = await problemsOf(server('ray_enabled: bool = True'));
  assert.deepEqual([undeclared && hasOneSafeFix(undeclared), field && hasOneSafeFix(field)], [false, true]);
});
