import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterState } from '../../src/cluster/service';
import type { ClusterActivity } from '../../src/cluster/watch';
import type { RayJob, RayNode } from '../../src/ray/client';
import { clusterStatus } from '../../src/views/clusterStatus';
import {
  type ClusterLine,
  type ClusterShown,
  changedLines,
  clusterLines,
  jobOfLine,
  linesById,
} from '../../src/views/clusterTree';
import { sampleRun, sampleShard } from '../support/sampleRuns';

const NOW = 1_796_070_000_000;
const GIB = 1024 ** 3;
/** Numbers and their units are kept on one line. */
const plain = (text: string): string => text.replaceAll('\u00a0', ' ');

function node(id: string, more: Partial<RayNode> = {}): RayNode {
  return {
    id,
    ip: `192.0.2.${id}`,
    isHead: false,
    state: 'ALIVE',
    message: undefined,
    cpus: 2,
    gpus: 0,
    memory: 16 * GIB,
    ...more,
  };
}

function job(id: string, more: Partial<RayJob> = {}): RayJob {
  return {
    type: 'SUBMISSION',
    submissionId: id,
    jobId: undefined,
    status: 'RUNNING',
    entrypoint: 'python work.py',
    message: undefined,
    errorType: undefined,
    startedAt: NOW - 180_000,
    endedAt: undefined,
    metadata: {},
    exitCode: undefined,
    ...more,
  };
}

type Running = ClusterState & { kind: 'running' };
const running: Running = {
  kind: 'running',
  origin: 'started',
  dashboardUrl: 'http://127.0.0.1:8265',
  gcsAddress: '192.0.2.1:6379',
  sessionName: 'session_1',
  rayVersion: '2.60.0',
  nodes: [node('1', { isHead: true })],
};
const usage = new Map([['1', { cpus: 1.5, gpus: 0 }]]);

function show(state: ClusterState, activity: ClusterActivity = {}, more: Partial<ClusterShown> = {}): ClusterLine[] {
  return [...clusterLines({ state, activity, runOf: () => undefined, now: NOW, ...more })];
}

/** The lines below one, each as a person reads it. */
function below(lines: readonly ClusterLine[], id: string): string[] {
  return (linesById(lines).get(id)?.children ?? []).map(({ label, description }) => plain(`${label} | ${description}`));
}

test('there is no line without a cluster, and one while it comes and goes', () => {
  assert.deepEqual(show({ kind: 'none' }), []);
  assert.deepEqual(
    show({ kind: 'starting', stage: 'waiting for the dashboard' }).map(({ description }) => description),
    ['waiting for the dashboard'],
  );
  assert.equal(show({ kind: 'stopping', sessionName: 'session_1' })[0]?.label, 'Ray is stopping');
});

test('nodes: the head first, the dead last, with what is used where Ray tells it', () => {
  const nodes = [
    node('3', { state: 'DEAD', message: 'Expected termination: received SIGTERM', cpus: 0 }),
    node('2', { cpus: 8, gpus: 1 }),
    node('1', { isHead: true }),
  ];
  const activity: ClusterActivity = {
    usage: new Map([
      ['1', { cpus: 1.5, gpus: 0 }],
      ['2', { cpus: 4, gpus: 0.25 }],
    ]),
    memory: new Map([['1', { used: 3.1 * GIB, total: 23.6 * GIB }]]),
  };
  const lines = show({ ...running, nodes }, activity);
  assert.deepEqual(below(lines, 'cluster'), ['Nodes | 5.5 of 10 CPUs']);
  assert.deepEqual(below(lines, 'nodes'), [
    '192.0.2.1 | head, 1.5 of 2 CPUs, 3.1 of 23.6 GiB',
    '192.0.2.2 | 4 of 8 CPUs, 0.3 of 1 GPU',
    '192.0.2.3 | dead',
  ]);
  assert.match(linesById(lines).get('node/3')?.tooltip ?? '', /received SIGTERM/);
  assert.deepEqual(below(show({ ...running, nodes }), 'nodes')[0], '192.0.2.1 | head, 2 CPUs');
});

test('jobs: those that go on first, each with its name, status, age and who started it', () => {
  const stock = 'python -m nemo_evaluator.engine.ray_launcher --benchmark bench/mini.py:minigsm --shards 8';
  const jobs = [
    job('ours', { metadata: { benchmark: 'gsm8k' }, entrypoint: 'python -u -m shardboard_driver request.json' }),
    job('window', { metadata: { benchmark: 'mmlu' }, entrypoint: 'python -u -m shardboard_driver request.json' }),
    job('stock', { entrypoint: stock, status: 'SUCCEEDED', endedAt: NOW - 7_200_000 }),
    job('other', { status: 'PENDING', startedAt: undefined }),
    job('x', {
      type: 'DRIVER',
      submissionId: undefined,
      jobId: '06000000',
      entrypoint: '/usr/bin/python /home/me/train.py',
    }),
  ];
  const run = sampleRun([sampleShard(0, 10)], { benchmark: 'gsm8k' });
  const theirs = sampleRun([], { benchmark: 'minigsm', origin: 'stock', status: 'running' });
  const runOf = (id: string) => (id === 'ours' ? run : id === 'stock' ? theirs : undefined);
  const lines = show(running, { jobs }, { runOf });
  assert.deepEqual(below(lines, 'cluster')[1], 'Jobs | 4 running');
  const [ours, ...others] = below(lines, 'jobs');
  assert.match(ours ?? '', /^gsm8k \| .* for 3 min, this window$/);
  assert.deepEqual(others, [
    'mmlu | running for 3 min, another window',
    'train.py | running for 3 min, a script',
    'work.py | pending, submitted elsewhere',
    'mini.py:minigsm | succeeded 2 h ago, stock launcher',
  ]);
  const all = linesById(lines);
  assert.deepEqual(
    ['ours', 'stock', '06000000'].map((id) => all.get(`job/${id}`)?.context),
    ['runningRunJob', 'endedRunJob', 'scriptJob'],
  );
  assert.equal(all.get('job/ours')?.run, 'ours');
  assert.equal(all.get('job/stock')?.run, 'stock');
  assert.match(all.get('job/stock')?.tooltip ?? '', /with the stock launcher/);
  assert.equal(all.get('job/window')?.run, undefined);
  assert.equal(jobOfLine('job/ours'), 'ours');
  assert.equal(jobOfLine('nodes'), undefined);
});

test('a long history is cut, and says so', () => {
  const jobs = Array.from({ length: 42 }, (_, index) => job(`${index}`, { status: 'FAILED', endedAt: NOW }));
  const lines = show(running, { jobs });
  assert.deepEqual(below(lines, 'cluster')[1], 'Jobs | none running');
  assert.deepEqual(below(lines, 'jobs').slice(30), ['12 older jobs | in the dashboard']);
  assert.deepEqual(below(show(running, { jobs: [] }), 'cluster')[1], 'Jobs | none');
});

test('a cluster that is silent keeps its lines, and says when it was heard', () => {
  const silence = { lastHeard: NOW - 12_000, reason: 'Nobody answers at http://127.0.0.1:8265.' };
  const [line] = show({ ...running, silence }, { usage });
  assert.match(line?.description ?? '', /last heard at \d/);
  assert.match(line?.tooltip ?? '', /Nobody answers/);
  assert.equal(line?.children.length, 1);
});

test('only what has changed is drawn anew', () => {
  const before = show(running, { usage, jobs: [job('a')] });
  assert.deepEqual(changedLines(before, show(running, { usage, jobs: [job('a')] })), []);
  const used = new Map([['1', { cpus: 2, gpus: 0 }]]);
  assert.deepEqual(changedLines(before, show(running, { usage: used, jobs: [job('a')] })), ['nodes', 'node/1']);
  const ended = job('a', { status: 'SUCCEEDED', endedAt: NOW });
  assert.deepEqual(changedLines(before, show(running, { usage, jobs: [ended] })), ['jobs', 'job/a']);
  assert.deepEqual(changedLines(before, show(running, { usage, jobs: [job('a'), job('b')] })), ['jobs', 'job/b']);
  assert.equal(changedLines(before, []), undefined);
  assert.equal(changedLines([], before), undefined);
});

test('the ids of all lines differ', () => {
  const nodes = [node('1', { isHead: true }), node('2')];
  const ids: string[] = [];
  const collect = (lines: readonly ClusterLine[]): void => {
    for (const line of lines) {
      ids.push(line.id);
      collect(line.children);
    }
  };
  collect(show({ ...running, nodes }, { jobs: [job('a'), job('b')] }));
  assert.equal(new Set(ids).size, ids.length);
});

const statuses: readonly [state: ClusterState, activity: ClusterActivity, text: string][] = [
  [{ kind: 'none' }, {}, '$(circle-outline) Ray: off'],
  [{ kind: 'starting', stage: 'x' }, {}, '$(sync~spin) Ray: starting'],
  [running, {}, '$(pass) Ray: on'],
  [running, { usage: new Map() }, '$(pass) Ray: on'],
  [running, { usage }, '$(pass) Ray: 1.5 of 2 CPUs'],
  [{ ...running, nodes: [node('1', { cpus: 1 })] }, { usage }, '$(pass) Ray: 1.5 of 1 CPU'],
  [{ ...running, silence: { lastHeard: NOW - 12_300, reason: 'x' } }, { usage }, '$(warning) Ray: last heard 12 s ago'],
  [
    { ...running, silence: { lastHeard: NOW - 3_700_000, reason: 'x' } },
    { usage },
    '$(warning) Ray: last heard 1 h ago',
  ],
  [{ kind: 'stopping', sessionName: 'x' }, {}, '$(sync~spin) Ray: stopping'],
];
for (const [state, activity, text] of statuses) {
  test(`the status bar says: ${text}`, () => {
    assert.equal(plain(clusterStatus(state, activity, NOW).text), text);
  });
}

test('what a screen reader says of a silent cluster stays the same while time goes by', () => {
  const state = { ...running, silence: { lastHeard: NOW - 12_000, reason: 'x' } };
  const [one, two] = [NOW, NOW + 5000].map((now) => clusterStatus(state, {}, now));
  assert.notEqual(one?.text, two?.text);
  assert.equal(one?.spoken, two?.spoken);
});
