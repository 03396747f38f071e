import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeLenses, type LensDescription, type RayState } from '../../src/editor/lensDescriptions';
import type { BodyValue } from '../../src/gym/moduleFacts';
import type { FlagReading, ServerClass, ServerFile } from '../../src/gym/serverFile';

const nameRange = { startLine: 3, startColumn: 6, endLine: 3, endColumn: 12 };
const declaration = { startLine: 4, startColumn: 4, endLine: 4, endColumn: 22 };

function lensesOf(kind: BodyValue, ray: RayState, more: Partial<ServerClass> = {}): LensDescription[] {
  const reading: FlagReading = { value: kind, origin: kind === 'not_declared' ? undefined : { kind: 'own' } };
  const server: ServerClass = {
    name: 'Server',
    qualifiedName: 'Server',
    nameRange,
    isTopLevel: true,
    declared: kind,
    declaration: kind === 'not_declared' ? undefined : declaration,
    strict: kind === 'on' || kind === 'off' ? kind : 'unknown',
    sameFile: reading,
    tree: reading,
    starts: true,
    startCalls: [],
    warnings: [],
    ...more,
  };
  const file: ServerFile = {
    classes: [server],
    startCalls: [],
    startedElsewhere: [],
    entrypoint: { strict: server.strict, strictOpen: false, sameFile: kind, tree: kind },
    rayUses: [],
    remotes: [],
    parses: true,
  };
  return describeLenses(file, ray);
}

const said = (lenses: LensDescription[]): string[] =>
  lenses.map(({ title, action }) => (action && 'command' in action ? `${title} > ${action.command}` : title));

test('what a started class shows in each state of the cluster', () => {
  const table: Readonly<Record<BodyValue, Readonly<Record<RayState, string[]>>>> = {
    on: {
      none: ['Ray: on', 'Start Ray > shardboard.startCluster'],
      starting: ['Ray: on', 'Ray is starting > shardboard.showCluster'],
      running: ['Ray: on', 'Open Ray cluster > shardboard.showCluster'],
      stopping: ['Ray: on', 'Ray is stopping > shardboard.showCluster'],
    },
    off: { none: ['Ray: off'], starting: ['Ray: off'], running: ['Ray: off'], stopping: ['Ray: off'] },
    not_declared: {
      none: ['Ray: not declared'],
      starting: ['Ray: not declared'],
      running: ['Ray: not declared', 'Open Ray cluster > shardboard.showCluster'],
      stopping: ['Ray: not declared'],
    },
    unreadable: {
      none: ['Ray: not a plain True or False'],
      starting: ['Ray: not a plain True or False'],
      running: ['Ray: not a plain True or False', 'Open Ray cluster > shardboard.showCluster'],
      stopping: ['Ray: not a plain True or False'],
    },
  };
  for (const kind of ['on', 'off', 'not_declared', 'unreadable'] as const) {
    for (const ray of ['none', 'starting', 'running', 'stopping'] as const) {
      assert.deepEqual(said(lensesOf(kind, ray)), table[kind][ray], `${kind}, ${ray}`);
    }
  }
});

test('a class that the file does not start says what it is and offers nothing', () => {
  assert.deepEqual(said(lensesOf('on', 'none', { starts: false })), ['Ray: on']);
  assert.deepEqual(said(lensesOf('on', 'running', { starts: false })), ['Ray: on']);
});

test('lenses stand on the name of the class and lead to the declaration, if there is one', () => {
  for (const lens of lensesOf('on', 'none')) {
    assert.deepEqual(lens.range, nameRange);
  }
  assert.deepEqual(lensesOf('on', 'none')[0]?.action, { reveal: declaration });
  assert.equal(lensesOf('not_declared', 'none')[0]?.action, undefined);
});

test('a base that declares the flag is named', () => {
  const origin = { kind: 'base', className: 'Base', file: undefined, range: declaration } as const;
  const [lens] = lensesOf('not_declared', 'none', { sameFile: { value: 'on', origin } });
  assert.equal(lens?.title, 'Ray: not declared here, but in Base');
});

test('not declared says what Gym makes of it', () => {
  assert.match(lensesOf('not_declared', 'none')[0]?.tooltip ?? '', /0\.7\.0 uses Ray and warns; later versions do not/);
});
