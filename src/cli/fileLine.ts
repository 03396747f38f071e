import { relative } from 'node:path';
import type { BodyValue, ClassFacts } from '../gym/moduleFacts';
import type { FlagReading, FlagValue, ServerClass, ServerFile, SupervisorReading } from '../gym/serverFile';
import type { SourceText } from '../python/sourceText';
import type { SourceRange } from '../python/syntax';

/** A value as it is printed: what Python would say, or why it says nothing. */
type PrintedValue = boolean | null | 'non-literal' | 'unknown';

/** What is printed of one file: the shape of a case in `test/fixtures/gym/expected.json`, with paths told from `root`. */
export function fileLine(
  path: string,
  root: string,
  source: SourceText,
  file: ServerFile,
  classes: readonly ClassFacts[],
): object {
  const starts = [
    ...file.classes.filter((server) => server.starts).map(({ qualifiedName }) => qualifiedName),
    ...file.startedElsewhere.filter(({ call }) => call.starts).map(({ call }) => call.receiver),
  ];
  return {
    file: relativePath(root, path),
    parse: file.parses ? 'ok' : 'syntax-error',
    encoding: source.encoding,
    bom: source.bom,
    eol: source.lineEnding,
    classes: file.classes.map((server) => classLine(server, root, classes)),
    entrypoint: {
      isEntrypoint: starts.length > 0,
      starts: [...new Set(starts)],
      strict: printedStrict(file.entrypoint.strict),
      strictOpen: file.entrypoint.strictOpen,
      sameFile: printed(file.entrypoint.sameFile),
      tree: printed(file.entrypoint.tree),
      calls: file.startCalls.map(({ range, receiver, guard, function: name, starts: starting }) => ({
        line: range.startLine,
        col: range.startColumn,
        receiver,
        guard,
        function: name ?? null,
        starts: starting,
      })),
    },
  };
}

function classLine(server: ServerClass, root: string, classes: readonly ClassFacts[]): object {
  const { startLine: line, startColumn: col } = server.nameRange;
  const own = classes.find(({ nameRange }) => nameRange.startLine === line && nameRange.startColumn === col);
  return {
    name: server.name,
    qualname: server.qualifiedName,
    line,
    col,
    declared: printed(server.declared),
    declaration: server.declaration
      ? { ...edges(server.declaration), kind: own?.flag.form ?? 'other', value: printed(server.declared) }
      : null,
    strict: printedStrict(server.strict),
    sameFile: readingLine(server.sameFile, root),
    tree: readingLine(server.tree, root),
    started: server.starts,
    warnings: server.warnings.map(({ code }) => WARNINGS[code]),
    ...lensOf(server.tree),
  };
}

const WARNINGS: Readonly<Record<ServerClass['warnings'][number]['code'], string>> = {
  not_a_literal: 'not-a-literal',
  annotated_without_class_var: 'annotated-without-ClassVar',
  annotation_without_value: 'annotation-without-value',
  declared_more_than_once: 'declared-more-than-once',
  strict_reading_open: 'strict-reading-open',
  set_on_instance: 'set-on-instance',
  set_outside_class_body: 'set-outside-class-body',
};

function readingLine({ value, origin }: FlagReading, root: string): object {
  const outside = origin && 'setAgainOnLine' in origin && origin.setAgainOnLine !== undefined;
  return {
    value: printed(value),
    from: originWords({ value, origin }, root),
    ...(outside ? { outsideClassBody: origin.setAgainOnLine } : {}),
  };
}

function originWords({ origin }: FlagReading, root: string): string | null {
  switch (origin?.kind) {
    case undefined:
      return null;
    case 'own':
      return 'self';
    case 'base':
      return origin.file === undefined ? origin.className : `${relativePath(root, origin.file)}:${origin.className}`;
    case 'unresolved':
      return `unresolved ${origin.what}`;
  }
}

function lensOf({ value, origin }: FlagReading): { lens: string; say: string } {
  const isInherited = origin?.kind === 'base';
  switch (value) {
    case 'on':
    case 'off':
      return isInherited
        ? { lens: `${value}-inherited`, say: `Ray: ${value}, from ${origin.className}` }
        : { lens: value, say: `Ray: ${value}` };
    case 'not_declared':
      return { lens: 'undeclared', say: 'Ray: not declared' };
    case 'unreadable':
      return { lens: 'not-literal', say: 'Ray: not a plain True or False' };
    case 'unknown':
      return { lens: 'unknown', say: 'Ray: unknown' };
  }
}

function printed(value: FlagValue | BodyValue): PrintedValue {
  switch (value) {
    case 'on':
      return true;
    case 'off':
      return false;
    case 'not_declared':
      return null;
    case 'unreadable':
      return 'non-literal';
    case 'unknown':
      return 'unknown';
  }
}

function printedStrict(value: SupervisorReading): boolean | null {
  return value === 'unknown' ? null : value === 'on';
}

function edges({ startLine: line, startColumn: col, endLine, endColumn: endCol }: SourceRange): object {
  return { line, col, endLine, endCol };
}

function relativePath(root: string, path: string): string {
  return relative(root, path).replaceAll('\\', '/');
}
