import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { createRunTerminal } from '../../src/commands/runTerminal';
import { createEmitter } from '../../src/common/emitter';
import { UserError } from '../../src/common/userError';
import type { RunSnapshot } from '../../src/protocol/runSnapshot';
import { sampleRun, sampleShard } from '../support/sampleRuns';

const PRESET = { benchmark: 'benchmarks/word_problems.py:word_problems', modelUrl: 'practice', modelId: 'practice' };

suite('runs as tasks', () => {
  suiteSetup(async () => {
    await vscode.extensions.getExtension('shardboard.shardboard')?.activate();
  });
  teardown(async () => {
    await setPresets(undefined);
    await vscode.workspace.getConfiguration('tasks').update('tasks', undefined, vscode.ConfigurationTarget.Workspace);
  });

  test('each preset is offered as a task', async () => {
    await setPresets({ pilot: { ...PRESET, shards: 2 }, 'cannot be read': { shards: 'many' } });
    const tasks = await vscode.tasks.fetchTasks({ type: 'shardboard' });
    assert.deepEqual(
      tasks.map(({ name, definition }) => [name, definition.preset]),
      [
        ['cannot be read', 'cannot be read'],
        ['pilot', 'pilot'],
      ],
    );
  });

  test('a task of tasks.json without a cluster, and one with a preset that is gone, end with 2', async () => {
    await vscode.workspace.getConfiguration('tasks').update(
      'tasks',
      [
        { label: 'own', type: 'shardboard', ...PRESET, generation: { temperature: 0.5 } },
        { label: 'gone', type: 'shardboard', preset: 'gone', shards: 4 },
      ],
      vscode.ConfigurationTarget.Workspace,
    );
    const tasks = await vscode.tasks.fetchTasks({ type: 'shardboard' });
    const own = tasks.find(({ name }) => name === 'own');
    const gone = tasks.find(({ name }) => name === 'gone');
    assert.ok(own && gone, tasks.map(({ name }) => name).join(', '));
    assert.equal(own.definition.generation.temperature, 0.5);
    assert.deepEqual([gone.definition.preset, gone.definition.shards], ['gone', 4]);
    assert.deepEqual([await exitCode(own), await exitCode(gone)], [2, 2]);
  });
});

suite('the terminal of a run', () => {
  let changed: ReturnType<typeof createEmitter<string>>;
  let snapshot: RunSnapshot;
  let cancelled: string[];
  let lines: string;
  let exited: number | undefined;

  setup(() => {
    changed = createEmitter<string>();
    snapshot = sampleRun([sampleShard(0, 0)], { status: 'pending', stage: null });
    cancelled = [];
    lines = '';
    exited = undefined;
  });

  const open = (submit: () => Promise<string>): vscode.Pseudoterminal => {
    const terminal = createRunTerminal({
      runs: {
        snapshot: () => snapshot,
        onDidChange: changed.event,
        async cancel(id) {
          cancelled.push(id);
        },
      },
      submit,
      titleOf: (command) => (command === 'shardboard.startCluster' ? 'Shardboard: Start Local Ray Cluster' : undefined),
    });
    terminal.onDidWrite((text) => {
      lines += text;
    });
    terminal.onDidClose?.((code) => {
      exited = Number(code);
    });
    terminal.open(undefined);
    return terminal;
  };
  const become = (next: Partial<RunSnapshot>, done = 0): void => {
    snapshot = sampleRun([sampleShard(0, done)], next);
    changed.fire('run-1');
  };
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) {
      await new Promise(setImmediate);
    }
  };

  test('tells the course of a run, and ends as it ended', async () => {
    for (const [status, code] of [
      ['complete', 0],
      ['partial', 3],
      ['failed', 4],
      ['stopped', 143],
      ['lost', 4],
    ] as const) {
      lines = '';
      exited = undefined;
      snapshot = sampleRun([sampleShard(0, 0)], { status: 'pending', stage: null });
      open(async () => 'run-1');
      await until(() => lines.includes('Waiting for Ray'));
      become({}, 200);
      assert.match(lines, /Running, 200 of 2,638 answers\. Mean reward so far \d+\.\d/);
      assert.equal(exited, undefined);
      become({ status, message: 'What came of it.' }, 300);
      assert.match(lines, /What came of it\.\r\nResults: \/home\/ada\/gym/);
      assert.equal(exited, code, status);
    }
  });

  test('is cancelled by Ctrl+C, also before it is submitted, and not by being closed', async () => {
    let submitted: (id: string) => void = () => undefined;
    const terminal = open(
      () =>
        new Promise((resolve) => {
          submitted = resolve;
        }),
    );
    terminal.handleInput?.('x');
    terminal.handleInput?.('\x03');
    assert.deepEqual(cancelled, []);
    submitted('run-1');
    await until(() => cancelled.length > 0);
    assert.match(lines, /closing this terminal does not/);
    terminal.close();
    become({ status: 'stopped' });
    assert.deepEqual([cancelled, exited], [['run-1'], undefined]);
  });

  test('says what is wrong and which command helps', async () => {
    open(async () => {
      throw new UserError('There is no cluster.', [{ title: 'Start Ray', command: 'shardboard.startCluster' }]);
    });
    await until(() => exited !== undefined);
    assert.equal(exited, 2);
    assert.match(lines, /There is no cluster\.\r\nCommands that help: "Shardboard: Start Local Ray Cluster"\./);
  });
});

async function setPresets(presets: object | undefined): Promise<void> {
  await vscode.workspace
    .getConfiguration('shardboard')
    .update('presets', presets, vscode.ConfigurationTarget.Workspace);
}

async function exitCode(task: vscode.Task): Promise<number | undefined> {
  const ended = new Promise<number | undefined>((resolve) => {
    const subscription = vscode.tasks.onDidEndTaskProcess((event) => {
      if (event.execution.task.name === task.name) {
        subscription.dispose();
        resolve(event.exitCode);
      }
    });
  });
  await vscode.tasks.executeTask(task);
  return await ended;
}
