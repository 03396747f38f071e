import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeLenses, type LensDescription, type RayState } from '../../src/editor/lensDescriptions';
import type { StartCall } from '../../src/gym/moduleFacts';
import type { FlagOrigin, FlagReading, FlagValue, ServerClass, ServerFile } from '../../src/gym/serverFile';

const nameRange = { startLine: 3, startColumn: 6, endLine: 3, endColumn: 12 };
const declaration = { startLine: 4, startColumn: 4, endLine: 4, endColumn: 22 };
const callRange = { startLine: 20, startColumn: 4, endLine: 20, endColumn: 26 };
const inBase = { startLine: 9, startColumn: 4, endLine: 9, endColumn: 22 };

const call: StartCall = {
  receiver: 'Server',
  range: callRange,
  target: { kind: 'class', index: 0 },
  throughAlias: false,
  guard: 'main',
  function: undefined,
  starts: true,
};
const forWorkers: StartCall = { ...call, guard: 'fastapi', starts: false };

const reading = (value: FlagValue, origin?: FlagOrigin): FlagReading => ({ value, origin });
const own = (value: FlagValue): FlagReading => reading(value, value === 'not_declared' ? undefined : { kind: 'own' });
const fromBase = (value: FlagValue, file?: string): FlagReading =>
  reading(value, { kind: 'base', className: 'Base', file, range: inBase });

/** A type that makes a field of the flag, in the class itself. */
const AS_FIELD = {
  runs: own('not_declared'),
  field: { className: 'Server', isOwn: true, file: undefined, range: declaration },
} satisfies Partial<ServerClass>;

/** A started class that says what it says in its own body. */
function server(value: 'on' | 'off' | 'not_declared' | 'unreadable', more: Partial<ServerClass> = {}): ServerClass {
  const startCalls = more.startCalls ?? [call];
  return {
    name: 'Server',
    qualifiedName: 'Server',
    nameRange,
    isTopLevel: true,
    declared: value,
    declaration: value === 'not_declared' ? undefined : declaration,
    strict: value === 'on' || value === 'off' ? value : 'unknown',
    sameFile: own(value),
    tree: own(value),
    runs: more.tree ?? own(value),
    field: undefined,
    inheritsField: false,
    starts: startCalls.some(({ starts }) => starts),
    warnings: [],
    ...more,
    startCalls,
  };
}

function lensesOf(one: ServerClass, ray: RayState = 'starting', more: Partial<ServerFile> = {}): LensDescription[] {
  const file: ServerFile = {
    classes: [one],
    startCalls: one.startCalls,
    startedElsewhere: [],
    entrypoint: { strict: one.strict, strictOpen: false, sameFile: one.sameFile.value, tree: one.tree.value },
    rayUses: [],
    remotes: [],
    parses: true,
    ...more,
  };
  return describeLenses(file, ray);
}

const titles = (lenses: readonly LensDescription[]): string[] => lenses.map(({ title }) => title);
const flagOf = (one: ServerClass, more: Partial<ServerFile> = {}): LensDescription => {
  const [lens] = lensesOf(one, 'starting', more);
  assert.ok(lens);
  return lens;
};
const warning = (code: ServerClass['warnings'][number]['code']): ServerClass['warnings'][number] => ({
  code,
  range: declaration,
});

describe('what a class says', () => {
  const inherited = { declared: 'not_declared', declaration: undefined, strict: 'unknown' } as const;
  const notFound = reading('unknown', { kind: 'unresolved', what: 'base_server:Base' });
  const setAgain = (value: FlagValue): FlagReading => reading(value, { kind: 'own', setAgainOnLine: 7 });
  const table: readonly (readonly [string, ServerClass])[] = [
    ['Ray: on', server('on')],
    ['Ray: off', server('off')],
    ['Ray: not declared', server('not_declared')],
    ['Ray: not a plain True or False', server('unreadable')],
    ['Ray: on, from Base, not read by the supervisor', server('on', { ...inherited, tree: fromBase('on') })],
    [
      'Ray: off, from Base in base.py, not read by the supervisor',
      server('off', { ...inherited, tree: fromBase('off', '/w/base.py') }),
    ],
    [
      'Ray: on, from Base in base.py',
      server('on', { ...inherited, tree: fromBase('on', '/w/base.py'), startCalls: [] }),
    ],
    ['Ray: unknown, base base_server:Base not found', server('on', { ...inherited, tree: notFound })],
    [
      'Ray: unknown, base made() is more than forty character…',
      server('on', {
        ...inherited,
        tree: reading('unknown', { kind: 'unresolved', what: 'base made() is more\n  than forty characters long' }),
      }),
    ],
    ['Ray: on, set again on line 8, the supervisor reads off', server('off', { tree: setAgain('on') })],
    ['Ray: off, set again on line 8, the supervisor reads on', server('on', { tree: setAgain('off') })],
    ['Ray: not declared, the supervisor reads on', server('not_declared', { strict: 'on' })],
    ['Ray: not a plain True or False, the supervisor reads off', server('unreadable', { strict: 'off' })],
    ['Ray: on, declared more than once', server('on', { warnings: [warning('declared_more_than_once')] })],
    ['Ray: on? A pydantic field: Gym sees None at run time', server('on', AS_FIELD)],
    ['Ray: off? A pydantic field: Gym sees None at run time', server('off', AS_FIELD)],
    [
      'Ray: on, not read by the supervisor',
      server('on', { startCalls: [{ ...call, receiver: 'App', throughAlias: true }] }),
    ],
    ['Ray: off, not read by the supervisor', server('off', { isTopLevel: false })],
  ];
  for (const [title, one] of table) {
    test(title, () => assert.equal(flagOf(one).title, title));
  }

  test('a file that does not parse is marked, and no word is said about what is read of it', () => {
    const lens = flagOf(server('off', { tree: setAgain('on') }), { parses: false });
    assert.equal(lens.title, 'Ray: on, set again on line 8, file does not parse');
    assert.match(lens.tooltip ?? '', /Gym reads nothing/);
  });
});

describe('the tooltip', () => {
  test('of one that all readings agree on is one sentence', () => {
    assert.doesNotMatch(flagOf(server('on')).tooltip ?? '', /\n/);
  });

  test('says what Gym makes of a missing flag, by version', () => {
    assert.match(flagOf(server('not_declared')).tooltip ?? '', /0\.7\.0 uses Ray and warns; later versions do not/);
  });

  test('tells the three readings where they differ, and why it matters', () => {
    const tooltip = flagOf(
      server('not_declared', {
        sameFile: reading('unknown', { kind: 'unresolved', what: 'base:Base' }),
        tree: fromBase('on', '/w/base.py'),
      }),
    ).tooltip;
    assert.match(tooltip ?? '', /supervisor, from the body of the class alone: nothing/);
    assert.match(tooltip ?? '', /bases in this file: unknown, base base:Base not found/);
    assert.match(tooltip ?? '', /imports followed: on, from Base in base\.py/);
    assert.match(tooltip ?? '', /write the value here/);
  });

  test('warns of a cluster that is not there, and of a field that Gym does not see', () => {
    assert.match(flagOf(server('off', { tree: own('on') })).tooltip ?? '', /reads False\. It may start no cluster/);
    const field = flagOf(server('off', AS_FIELD)).tooltip;
    assert.match(field ?? '', /pydantic model.*0\.7\.0 uses Ray all the same.*ClassVar\[bool\]/);
  });
});

describe('started here', () => {
  const table: readonly (readonly [string | undefined, readonly StartCall[]])[] = [
    [undefined, []],
    ['Started here', [call]],
    ['Started here', [forWorkers, call]],
    ["Started here for uvicorn's workers", [forWorkers]],
    ['Started here through App', [{ ...call, receiver: 'App', throughAlias: true }]],
    ['Started here when imported', [{ ...call, guard: 'not_main', starts: false }]],
  ];
  for (const [title, startCalls] of table) {
    test(`${title}: ${startCalls.length} calls`, () => {
      const [, lens] = lensesOf(server('off', { startCalls }));
      assert.equal(lens?.title, title);
      assert.deepEqual(lens?.action, title === undefined ? undefined : { reveal: callRange });
    });
  }
});

describe('what can be done', () => {
  const said = (one: ServerClass, ray: RayState): string[] =>
    lensesOf(one, ray)
      .slice(2)
      .map(({ title, action }) => (action && 'command' in action ? `${title} > ${action.command}` : title));
  const open = 'Open Ray cluster > shardboard.showCluster';
  const run = 'Run server > shardboard.runServer';

  test('with a server that uses Ray, in each state of the cluster', () => {
    assert.deepEqual(said(server('on'), 'none'), [
      run,
      'Start Ray > shardboard.startCluster',
      'Join Ray > shardboard.joinCluster',
    ]);
    assert.deepEqual(said(server('on'), 'starting'), [run, 'Ray is starting > shardboard.showCluster']);
    assert.deepEqual(said(server('on'), 'running'), [run, open]);
    assert.deepEqual(said(server('on'), 'stopping'), [run, 'Ray is stopping > shardboard.showCluster']);
  });

  test('no cluster with one that does not; with one that may, only a look at a cluster that is there', () => {
    for (const ray of ['none', 'starting', 'running', 'stopping'] as const) {
      assert.deepEqual(said(server('off'), ray), [run]);
      assert.deepEqual(said(server('not_declared'), ray), [
        'Add declaration',
        run,
        ...(ray === 'running' ? [open] : []),
      ]);
      assert.deepEqual(said(server('unreadable'), ray), ray === 'running' ? [run, open] : [run]);
    }
  });

  test('a declaration is written by a click, and then there are five lenses at most', () => {
    const inherits = server('not_declared', { tree: fromBase('on', '/w/base.py') });
    const lenses = lensesOf(inherits, 'none');
    assert.deepEqual(titles(lenses).slice(2), ['Add declaration', 'Run server', 'Start Ray']);
    assert.deepEqual(lenses[2]?.action, { declareIn: nameRange, asClassVar: false });
  });

  test('nothing with a class that the file does not start', () => {
    assert.deepEqual(titles(lensesOf(server('on', { startCalls: [] }), 'none')), ['Ray: on']);
  });
});

describe('where a click leads', () => {
  test('lenses stand on the name of the class, the first leads to the declaration', () => {
    for (const lens of lensesOf(server('on'), 'none')) {
      assert.deepEqual(lens.range, nameRange);
    }
    assert.deepEqual(flagOf(server('on')).action, { reveal: declaration });
    assert.equal(flagOf(server('not_declared')).action, undefined);
  });

  test('to the base in its file, and to the line that sets it again', () => {
    assert.deepEqual(flagOf(server('not_declared', { tree: fromBase('on', '/w/base.py') })).action, {
      reveal: inBase,
      file: '/w/base.py',
    });
    const outside = { startLine: 7, startColumn: 0, endLine: 7, endColumn: 25 };
    const tree = reading('on', { kind: 'own', setAgainOnLine: 7 });
    const warnings = [
      warning('annotated_without_class_var'),
      { code: 'set_outside_class_body', range: outside } as const,
    ];
    assert.deepEqual(flagOf(server('off', { tree, warnings })).action, { reveal: outside });
  });
});

describe('a class of another file that this file starts', () => {
  const elsewhere = (tree: FlagReading, more: Partial<StartCall> = {}, parses = true): LensDescription[] => {
    const target = { kind: 'import', module: 'real', level: 0, path: ['RealServer'] } as const;
    const started = { call: { ...call, receiver: 'S', target, ...more }, sameFile: reading('unknown'), tree };
    return lensesOf(server('on'), 'none', { classes: [], startedElsewhere: [started], parses });
  };
  const origin = { kind: 'base', className: 'RealServer', file: '/w/real.py', range: inBase } as const;

  test('has its lens on the call', () => {
    const [lens, ...others] = elsewhere(reading('off', origin));
    assert.equal(lens?.title, 'Starts RealServer: Ray off, from real.py, not read by the supervisor');
    assert.deepEqual(lens.range, callRange);
    assert.deepEqual(lens.action, { reveal: inBase, file: '/w/real.py' });
    assert.deepEqual(others, []);
  });

  test('says what is not known, and what it is for', () => {
    const missing = reading('unknown', { kind: 'unresolved', what: 'real:RealServer' });
    assert.equal(elsewhere(missing)[0]?.title, 'Starts RealServer: Ray unknown, real:RealServer not found');
    assert.equal(
      elsewhere(reading('not_declared'), { guard: 'fastapi', starts: false })[0]?.title,
      "Starts RealServer for uvicorn's workers: Ray not declared",
    );
    assert.equal(
      elsewhere(fromBase('on', '/w/base.py'), {}, false)[0]?.title,
      'Starts RealServer: Ray on, from Base in base.py, file does not parse',
    );
  });

  test('offers a cluster when it needs one', () => {
    assert.deepEqual(titles(elsewhere(reading('on', origin))).slice(1), ['Start Ray', 'Join Ray']);
  });
});
