import assert from 'node:assert/strict';
import { test } from 'node:test';
import { benchmarksIn, mayHoldBenchmarks } from '../../src/benchmark/findBenchmarks';
import { withTree } from '../../src/python/parser';
import { usePythonParser } from '../support/pythonGrammar';

const parser = usePythonParser();

const find = (text: string): Promise<string[]> => withTree(parser(), text, benchmarksIn);

test('every way to import the decorator', async () => {
  const decorated = (name: string): string =>
    `@${name}(name="sums", dataset=rows)\n@scorer\ndef score(sample):\n    return {}\n`;
  const ways: Readonly<Record<string, string>> = {
    'from nemo_evaluator.environments.custom import benchmark, scorer': 'benchmark',
    'from nemo_evaluator.environments.custom import (\n    benchmark as bench,\n)': 'bench',
    'from nemo_evaluator.environments import custom': 'custom.benchmark',
    'from nemo_evaluator.environments import benchmark': 'benchmark',
    'from nemo_evaluator import benchmark': 'benchmark',
    'import nemo_evaluator': 'nemo_evaluator.benchmark',
    'import nemo_evaluator.environments.custom': 'nemo_evaluator.environments.custom.benchmark',
    'import nemo_evaluator.environments.custom as custom': 'custom.benchmark',
  };
  for (const [statement, name] of Object.entries(ways)) {
    assert.deepEqual(await find(`${statement}\n\n\n${decorated(name)}`), ['sums'], statement);
  }
  assert.deepEqual(await find(`from pytest_benchmark import benchmark\n${decorated('benchmark')}`), []);
  assert.deepEqual(await find(decorated('benchmark')), []);
});

test('only names that are plain strings, each once, in the order of the file', async () => {
  const arguments_ = [
    'name="first", dataset=rows',
    '"by position", dataset=rows',
    'dataset=rows, name=("in parentheses")',
    "# a comment\n    name='''triple''',\n",
    "name=r'raw\\d'",
    'name="first"',
    'name=f"computed {x}"',
    'name="two " "parts"',
    'name="escape\\n"',
    'name=b"bytes"',
    'name=NAME',
    'name=""',
    'dataset=rows',
    '**settings',
    '',
  ];
  const functions = arguments_.map((written, index) => `@benchmark(${written})\ndef score${index}(sample): ...\n`);
  const text = `from nemo_evaluator.environments.custom import benchmark\n\n${functions.join('\n')}`;
  assert.deepEqual(await find(text), ['first', 'by position', 'in parentheses', 'triple', 'raw\\d']);
});

test('comments, strings, calls and half-typed decorators are no benchmarks', async () => {
  const text = `from nemo_evaluator.environments.custom import benchmark
# @benchmark(name="comment")
"""
@benchmark(name="string")
"""
benchmark(name="call")
@benchmark
def bare(sample): ...
@benchmark(name="half
def half(sample): ...
`;
  assert.deepEqual(await find(text), []);
});

test('only a file that names the evaluator is worth a parse', () => {
  assert.equal(mayHoldBenchmarks('from nemo_evaluator.environments.custom import benchmark'), true);
  assert.equal(mayHoldBenchmarks('from pytest_benchmark import benchmark'), false);
});
