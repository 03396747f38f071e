import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDriverLogReader, readableLog } from '../../src/benchmark/driverLog';

const stage = (name: string): string => `@shardboard {"v":2,"t":1,"type":"stage","stage":"${name}"}\n`;

describe("reading a job's log", () => {
  it('gives each event once, though the log is fetched whole each time', () => {
    const read = createDriverLogReader();
    const log = `Running entrypoint\n${stage('connecting')}`;
    assert.equal(read(log).events.length, 1);
    assert.equal(read(log).events.length, 0);
    assert.deepEqual(
      read(log + stage('asking')).events.map((event) => event.type === 'stage' && event.stage),
      ['asking'],
    );
  });

  it('waits for the end of a line that is still being written', () => {
    const read = createDriverLogReader();
    const line = stage('asking');
    assert.equal(read(line.slice(0, 30)).events.length, 0);
    assert.equal(read(line).events.length, 1);
  });

  it('finds the event behind a prefix that Ray puts before it', () => {
    const read = createDriverLogReader();
    const { events } = read(
      '(shard 3/8 pid=77) @shardboard {"v":2,"t":1,"type":"answers","shard":2,"attempt":0,"answers":[[0,7,0,1,52.5,12,"ok"]]}\n',
    );
    assert.equal(events[0]?.type, 'answers');
  });

  it('reports a marked line that it cannot read, and goes on', () => {
    const read = createDriverLogReader();
    const { events, faults } = read(`@shardboard {"v":3}\n@shardboard {oops\n${stage('asking')}`);
    assert.equal(faults.length, 2);
    assert.equal(events.length, 1);
  });

  it('starts again when the log was begun anew', () => {
    const read = createDriverLogReader();
    read(stage('connecting') + stage('asking'));
    assert.equal(read(stage('connecting')).events.length, 1);
  });

  it('shows a person the log without the lines that are not for them', () => {
    assert.equal(readableLog(`first\n(pid=1) ${stage('asking')}last\n`), 'first\nlast\n');
  });
});
