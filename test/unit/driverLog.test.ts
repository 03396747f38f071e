import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDriverLog, type LogNews } from '../../src/benchmark/driverLog';

const stage = (name: string): string => `@shardboard {"v":2,"t":1,"type":"stage","stage":"${name}"}\n`;
const stages = ({ events }: LogNews): unknown[] => events.map((event) => event.type === 'stage' && event.stage);

describe("reading a job's log", () => {
  it('gives each event once, though the log is told whole each time', () => {
    const log = createDriverLog();
    const text = `Running entrypoint\n${stage('connecting')}`;
    assert.deepEqual(stages(log.takeWhole(text)), ['connecting']);
    assert.deepEqual(stages(log.takeWhole(text)), []);
    assert.deepEqual(stages(log.takeWhole(text + stage('asking'))), ['asking']);
  });

  it('gives each event once, though it is told in pieces again that end anywhere', () => {
    const text = `Running entrypoint\n${stage('connecting')}words\n${stage('asking')}${stage('merging')}`;
    for (let size = 1; size < text.length; size += 7) {
      const log = createDriverLog();
      const begin = `Running entrypoint\n${stage('connecting')}wor`;
      const told = stages(log.takeWhole(begin));
      for (let at = 0; at < text.length; at += size) {
        told.push(...stages(log.takePiece(at, text.slice(at, at + size))));
      }
      assert.deepEqual(told, ['connecting', 'asking', 'merging'], `in pieces of ${size}`);
      assert.equal(log.readable(), 'Running entrypoint\nwords\n');
    }
  });

  it('waits for the end of a line that is still being written', () => {
    const log = createDriverLog();
    const line = stage('asking');
    assert.deepEqual(stages(log.takeWhole(line.slice(0, 30))), []);
    assert.equal(log.readable(), '');
    assert.deepEqual(stages(log.takeWhole(line)), ['asking']);
  });

  it('finds the event behind a prefix that Ray puts before it', () => {
    const { events } = createDriverLog().takeWhole(
      '(shard 3/8 pid=77) @shardboard {"v":2,"t":1,"type":"answers","shard":2,"attempt":0,"answers":[[0,7,0,1,52.5,12,"ok"]]}\n',
    );
    assert.equal(events[0]?.type, 'answers');
  });

  it('reports a marked line that it cannot read, and goes on', () => {
    const { events, faults } = createDriverLog().takeWhole(
      `@shardboard {"v":3}\n@shardboard {oops\n${stage('asking')}`,
    );
    assert.equal(faults.length, 2);
    assert.equal(events.length, 1);
  });

  it('starts again when the log was begun anew, also when it is longer by then, and says so', () => {
    for (const next of [stage('loading_benchmark'), stage('loading_benchmark').repeat(9)]) {
      const log = createDriverLog();
      assert.equal(log.takeWhole(`words\n${stage('connecting')}${stage('asking')}`).isCut, false);
      const news = log.takeWhole(next);
      assert.equal(news.isCut, true);
      assert.equal(stages(news)[0], 'loading_benchmark');
      assert.match(log.readable(), /^words\n.*The log was cut on the cluster/s);
    }
  });

  it('keeps of a very long log the end, in whole lines, and says that there was more', () => {
    const log = createDriverLog();
    const line = `${'x'.repeat(99)}\n`;
    for (let piece = 0; piece < 50; piece += 1) {
      log.takePiece(log.length(), line.repeat(1000));
    }
    log.takePiece(log.length(), 'the end\n');
    const lines = log.readable().split('\n');
    assert.match(lines[0] ?? '', /left out/);
    assert.equal(lines[1], 'x'.repeat(99));
    assert.equal(lines.at(-2), 'the end');
    assert.ok(log.readable().length < 3 * 1024 * 1024);
  });
});
