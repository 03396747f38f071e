import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import * as v from 'valibot';
import { readServers } from '../../src/gym/readServers';
import type { FlagReading, ServerClass, ServerFile, SupervisorReading } from '../../src/gym/serverFile';
import { withTree } from '../../src/python/parser';
import type { SourceRange } from '../../src/python/syntax';
import { projectRoot } from '../support/projectRoot';
import { usePythonParser } from '../support/pythonGrammar';

const corpus = join(projectRoot, 'test', 'fixtures', 'gym');

const Value = v.union([v.boolean(), v.null(), v.literal('non-literal'), v.literal('unknown')]);
const Strict = v.nullable(v.boolean());
const Case = v.object({
  file: v.string(),
  classes: v.optional(
    v.array(
      v.object({
        name: v.string(),
        qualname: v.string(),
        line: v.number(),
        col: v.number(),
        declared: Value,
        declaration: v.nullable(
          v.object({ line: v.number(), col: v.number(), endLine: v.number(), endCol: v.number() }),
        ),
        strict: Strict,
        sameFile: v.object({ value: Value, from: v.nullable(v.string()) }),
        warnings: v.array(v.string()),
        started: v.boolean(),
      }),
    ),
  ),
  entrypoint: v.object({
    strict: Strict,
    strictOpen: v.optional(v.boolean()),
    calls: v.optional(v.array(v.object({ line: v.number(), col: v.number(), receiver: v.string() }))),
  }),
  tolerant: v.optional(
    v.object({ declared: v.record(v.string(), v.array(Value)), starts: v.optional(v.array(v.string())) }),
  ),
});
type Case = v.InferOutput<typeof Case>;

const { cases } = v.parse(
  v.object({ cases: v.array(Case) }),
  JSON.parse(readFileSync(join(corpus, 'expected.json'), 'utf8')),
);

const parser = usePythonParser();

function readCase(file: string): Promise<ServerFile> {
  // VS Code takes a byte order mark away before anybody sees the text.
  const text = readFileSync(join(corpus, file), 'utf8').replace(/^\uFEFF/, '');
  return withTree(parser(), text, (root) => readServers(root, text));
}

describe('the corpus', () => {
  test('is whole', () => assert.equal(cases.length, 57));

  for (const expected of cases) {
    test(expected.file, async () => {
      const file = await readCase(expected.file);
      if (expected.tolerant) {
        assertTolerant(file, expected.tolerant);
      }
      if (expected.classes) {
        assert.deepEqual(file.classes.map(summary), expected.classes.map(expectedSummary(expected)));
      }
      if (expected.entrypoint.strictOpen !== true) {
        assert.equal(file.entrypoint.strict, supervisor(expected.entrypoint.strict));
      }
      if (expected.entrypoint.calls) {
        const at = file.startCalls.map(({ receiver, range }) => [range.startLine, range.startColumn, receiver]);
        assert.deepEqual(
          at,
          expected.entrypoint.calls.map(({ line, col, receiver }) => [line, col, receiver]),
        );
      }
    });
  }
});

function summary(server: ServerClass): unknown {
  const { declaration } = server;
  return {
    qualname: server.qualifiedName,
    at: [server.nameRange.startLine, server.nameRange.startColumn],
    declared: server.declared,
    declaration: declaration && edges(declaration),
    strict: server.strict,
    sameFile: [server.sameFile.value, originWords(server.sameFile)],
    warnings: server.warnings.map(({ code }) => code),
    started: server.starts,
  };
}

function expectedSummary({ entrypoint }: Case): (server: NonNullable<Case['classes']>[number]) => unknown {
  return (server) => ({
    qualname: server.qualname,
    at: [server.line, server.col],
    declared: kind(server.declared),
    declaration: server.declaration
      ? [server.declaration.line, server.declaration.col, server.declaration.endLine, server.declaration.endCol]
      : undefined,
    // Where the rules leave it open, expected.json gives Python's own answer, and so do we.
    strict: supervisor(entrypoint.strictOpen ? asBoolean(server.declared) : server.strict),
    sameFile: [kind(server.sameFile.value), server.sameFile.from],
    warnings: server.warnings.map((warning) =>
      warning.toLowerCase().replaceAll('-', '_').replace('classvar', 'class_var'),
    ),
    started: server.started,
  });
}

function assertTolerant(file: ServerFile, { declared, starts }: NonNullable<Case['tolerant']>): void {
  for (const server of file.classes) {
    const allowed = declared[server.name];
    assert.ok(allowed, `${server.name} is not to be shown at all`);
    assert.ok(allowed.map(kind).includes(server.declared), `${server.name} ${server.declared}`);
  }
  for (const name of starts ?? []) {
    assert.ok(file.classes.some((server) => server.name === name && server.starts));
  }
}

function originWords({ origin }: FlagReading): string | null {
  switch (origin?.kind) {
    case undefined:
      return null;
    case 'own':
      return 'self';
    case 'base':
      return origin.className;
    case 'unresolved':
      return `unresolved ${origin.what}`;
  }
}

const edges = (range: SourceRange): number[] => [range.startLine, range.startColumn, range.endLine, range.endColumn];

function kind(value: v.InferOutput<typeof Value>): string {
  return value === true
    ? 'on'
    : value === false
      ? 'off'
      : value === null
        ? 'not_declared'
        : value === 'unknown'
          ? value
          : 'unreadable';
}

function supervisor(value: boolean | null): SupervisorReading {
  return value === null ? 'unknown' : value ? 'on' : 'off';
}

function asBoolean(value: v.InferOutput<typeof Value>): boolean | null {
  return typeof value === 'boolean' ? value : null;
}
