/** Following a run while its cluster misbehaves: nothing is counted twice, nothing is missed, and nothing is guessed. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { LogPace } from '../../src/benchmark/followLog';
import { followRun, type RunFollower } from '../../src/benchmark/followRun';
import { apply, initialRunState, type RunState, snapshotOf } from '../../src/benchmark/runState';
import type { RunSnapshot } from '../../src/protocol/runSnapshot';
import { createRayClient, type RayClient } from '../../src/ray/client';
import type { RayEndpoint } from '../../src/ray/transport';
import { answersLine, endLine, startLine } from '../support/driverLines';
import { type FakeDashboard, startFakeDashboard } from '../support/fakeDashboard';

const TAIL = '/api/jobs/run-1/logs/tail';
const LOGS = '/api/jobs/run-1/logs';
/** A socket from the first look on, and no patience. */
const PACE: LogPace = { readEveryMs: 20, socketFrom: 1, doubtAfterMs: 100, socketAgainMs: 60_000, lastWordMs: 300 };
const PROBLEMS = 400;
const START = `Running entrypoint for job run-1: python -u -m shardboard_driver request.json\n${startLine(PROBLEMS, 4)}`;

describe('following a run', () => {
  let dashboard: FakeDashboard;
  let client: RayClient;
  let state: RunState;
  let faults: Error[];
  let ending: AbortController;
  let follower: RunFollower;
  let onChange: (() => void) | undefined;

  const follow = (pace: LogPace = PACE, endpoint: Partial<RayEndpoint> = {}): void => {
    client = createRayClient({ url: dashboard.url, ...endpoint });
    state = initialRunState({
      id: 'run-1',
      benchmark: 'word_problems',
      modelId: 'practice',
      clusterName: 'local cluster',
      shards: 4,
      repeats: 1,
      submittedAt: 1,
      outputFolder: '/results/run-1',
    });
    follower = followRun({
      submissionId: 'run-1',
      sessionName: 'session_1',
      client: () => client,
      fate: () => 'gone',
      heardAt: 1,
      onEvents(events) {
        events.forEach((event) => {
          apply(state, event);
        });
        onChange?.();
      },
      onFault: (fault) => faults.push(fault),
      signal: ending.signal,
      pace,
    });
  };
  const until = (isSo: (run: RunSnapshot) => boolean): Promise<RunSnapshot> =>
    new Promise((resolve) => {
      onChange = () => {
        const run = snapshotOf(state);
        if (isSo(run)) {
          onChange = undefined;
          resolve(run);
        }
      };
      onChange();
    });
  const answered = (count: number): Promise<RunSnapshot> => until((run) => run.answered === count);
  const eventually = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  /** Writes the rest of the run, and lets it end. */
  const endFrom = async (position: number): Promise<RunSnapshot> => {
    dashboard.write(answersLine(position / 100, position, 400) + endLine(PROBLEMS));
    dashboard.job = { status: 'SUCCEEDED' };
    await follower.done;
    return snapshotOf(state);
  };

  beforeEach(async () => {
    dashboard = await startFakeDashboard();
    dashboard.write(START);
    faults = [];
    ending = new AbortController();
  });
  afterEach(async () => {
    ending.abort();
    await follower.done;
    await client.close();
    await dashboard.close();
  });

  it('hears over the socket what is written, without reading the log again', async () => {
    follow({ ...PACE, doubtAfterMs: 60_000 });
    await eventually(() => dashboard.sockets() === 1);
    const reads = dashboard.asked.get(LOGS);
    dashboard.write(answersLine(0, 0, 100));
    await answered(100);
    assert.equal(dashboard.asked.get(LOGS), reads);
    dashboard.write(answersLine(1, 100, 200) + answersLine(2, 200, 300));
    await answered(300);
    const run = await endFrom(300);
    assert.deepEqual([run.status, run.answered, run.rewardSum], ['complete', 400, 266]);
    assert.equal(follower.log(), 'Running entrypoint for job run-1: python -u -m shardboard_driver request.json\n');
  });

  it('opens no socket for a log that is short', async () => {
    follow({ ...PACE, socketFrom: 1_000_000 });
    dashboard.write(answersLine(0, 0, 100));
    await answered(100);
    assert.equal((await endFrom(100)).status, 'complete');
    assert.equal(dashboard.asked.get(TAIL), undefined);
  });

  it('opens the socket behind a path, with the token and the headers, and without compression', async () => {
    await dashboard.close();
    dashboard = await startFakeDashboard('/teams/one');
    dashboard.write(START);
    follow(PACE, { token: 'a-token', headers: { 'x-api-key': '1234' } });
    await eventually(() => dashboard.sockets() === 1);
    const { authorization, origin, 'x-api-key': key } = dashboard.headers.find(({ upgrade }) => upgrade) ?? {};
    assert.deepEqual([authorization, key, origin], ['Bearer a-token', '1234', undefined]);
    assert.ok(dashboard.headers.every((headers) => headers['sec-websocket-extensions'] === undefined));
  });

  for (const fault of ['refused', 'closed', 'silent'] as const) {
    it(`reads the log whole where the socket is ${fault}`, async () => {
      dashboard.socketFault = fault;
      follow();
      await eventually(() => (dashboard.asked.get(TAIL) ?? 0) > 0);
      for (const shard of [0, 1, 2]) {
        dashboard.write(answersLine(shard, shard * 100, shard * 100 + 100));
        await answered(shard * 100 + 100);
      }
      const run = await endFrom(300);
      assert.deepEqual([run.status, run.answered, run.rewardSum], ['complete', 400, 266]);
      assert.equal(dashboard.asked.get(TAIL), 1, 'and it is not tried again at once');
    });
  }

  it('tries the socket again later', async () => {
    dashboard.socketFault = 'closed';
    follow({ ...PACE, socketAgainMs: 50 });
    await eventually(() => (dashboard.asked.get(TAIL) ?? 0) >= 2);
    dashboard.socketFault = 'none';
    await eventually(() => dashboard.sockets() === 1);
    dashboard.write(answersLine(0, 0, 100));
    await answered(100);
  });

  it('keeps what it has while the cluster fails, says since when and why, and goes on', async () => {
    follow();
    dashboard.write(answersLine(0, 0, 100));
    await answered(100);
    dashboard.failJob = 500;
    const silent = await until((run) => run.lastHeardAt !== null);
    assert.deepEqual([silent.status, silent.answered], ['running', 100]);
    assert.match(silent.message ?? '', /HTTP 500/);
    dashboard.failJob = undefined;
    dashboard.write(answersLine(1, 100, 200));
    const again = await until((run) => run.lastHeardAt === null && run.answered === 200);
    assert.equal(again.message, null);
  });

  it('goes on when the dashboard was started again', async () => {
    follow();
    dashboard.write(answersLine(0, 0, 100));
    await answered(100);
    await dashboard.die();
    const silent = await until((run) => run.lastHeardAt !== null);
    assert.equal(silent.status, 'running');
    assert.match(silent.message ?? '', /Nothing answers at/);
    dashboard.write(answersLine(1, 100, 200));
    await dashboard.revive();
    await answered(200);
    assert.equal((await endFrom(200)).status, 'complete');
  });

  it('says that the cluster is gone when another session answers that knows nothing of the job', async () => {
    follow();
    dashboard.write(answersLine(0, 0, 100));
    await answered(100);
    dashboard.sessionName = 'session_2';
    dashboard.failJob = 404;
    await follower.done;
    const run = snapshotOf(state);
    assert.deepEqual([run.status, run.answered], ['lost', 100]);
    assert.match(run.message ?? '', /is gone.*kept in \/results\/run-1/);
  });

  it('says that the job was deleted when the same session does not know it any more', async () => {
    dashboard.failJob = 404;
    follow();
    await follower.done;
    assert.match(snapshotOf(state).message ?? '', /deleted/);
  });

  it('says that the log is gone, and takes no end for a failure that was a success', async () => {
    follow();
    dashboard.write(answersLine(0, 0, 100));
    await answered(100);
    dashboard.replace('');
    dashboard.socketFault = 'silent';
    await dashboard.die();
    await dashboard.revive();
    const gone = await until((run) => /log of this run is gone/.test(run.message ?? ''));
    assert.deepEqual([gone.status, gone.answered], ['running', 100]);
    dashboard.job = { status: 'SUCCEEDED' };
    await follower.done;
    const run = snapshotOf(state);
    assert.equal(run.status, 'partial');
    assert.match(run.message ?? '', /Ray says that the run succeeded, but its log cannot be read/);
  });

  it('says that the log cannot be read, and when it can be read again nothing more', async () => {
    dashboard.failLog = 500;
    follow();
    const unread = await until((run) => run.message !== null);
    assert.equal(unread.status, 'running');
    assert.match(unread.message ?? '', /cannot be read.*HTTP 500/);
    dashboard.failLog = undefined;
    dashboard.write(answersLine(0, 0, 100));
    await until((run) => run.answered === 100 && run.message === null);
  });

  it('waits for the last words when the connection breaks between the end of the job and its log', async () => {
    follow({ ...PACE, socketFrom: 1_000_000 });
    dashboard.write(answersLine(0, 0, 100));
    await answered(100);
    dashboard.failLog = 'broken';
    const ending = endFrom(100);
    await until((run) => run.lastHeardAt !== null);
    dashboard.failLog = undefined;
    assert.equal((await ending).status, 'complete');
  });

  it('reads a log that was cut from its start, and counts nothing twice', async () => {
    follow({ ...PACE, socketFrom: 1_000_000 });
    dashboard.write(answersLine(0, 0, 100) + answersLine(1, 100, 200));
    await answered(200);
    dashboard.replace(answersLine(1, 150, 250));
    const cut = await until((run) => run.message !== null);
    assert.match(cut.message ?? '', /was cut/);
    dashboard.write(answersLine(2, 250, 300));
    await until((run) => run.shards[2]?.done === 50);
    assert.deepEqual([state.shards[0]?.answers.size, state.shards[1]?.answers.size], [100, 150]);
  });

  it('is not misled by half a line, a damaged line, or a batch that comes twice', async () => {
    follow();
    await eventually(() => dashboard.sockets() === 1);
    const line = answersLine(0, 0, 100);
    dashboard.write(line.slice(0, 70));
    dashboard.write(line.slice(70));
    dashboard.write(`@shardboard {"v":2,"type":"answers",\n\u0000\u0001 garbage\n${line}`);
    dashboard.write(answersLine(1, 100, 200));
    await answered(200);
    assert.equal(faults.length, 1);
    assert.equal((await endFrom(200)).rewardSum, 266);
  });

  it('says so when another version of Shardboard submitted the run', async () => {
    dashboard.replace('@shardboard {"v":99,"type":"start"}\n@shardboard {"v":99,"type":"answers"}\n');
    follow();
    const unknown = await until((run) => run.message !== null);
    assert.deepEqual([unknown.status, faults.length], ['running', 1]);
    assert.match(unknown.message ?? '', /another version/);
    // Only the first line was damaged.
    dashboard.write(START);
    await until((run) => run.expected === PROBLEMS && run.message === null);
  });

  it('gives the same state, whichever way the log is heard', async () => {
    const whole =
      START +
      [0, 1, 2, 3].map((shard) => answersLine(shard, shard * 100, shard * 100 + 100)).join('') +
      endLine(PROBLEMS);
    const states: RunSnapshot[] = [];
    for (const socketFrom of [1, 1_000_000]) {
      dashboard.replace(whole);
      dashboard.job = { status: 'SUCCEEDED' };
      follow({ ...PACE, socketFrom });
      await follower.done;
      states.push(snapshotOf(state));
    }
    assert.equal(states[0]?.answered, 400);
    assert.deepEqual(states[0], states[1]);
  });
});
