/** Lines as the driver writes them, for logs that tests make up. */
import type { CompactAnswer } from '../../src/protocol/driverEvents';
import { EVENT_MARKER, EVENT_VERSION } from '../../src/protocol/driverEvents';

export function eventLine(event: object, at = 1): string {
  return `${EVENT_MARKER}${JSON.stringify({ v: EVENT_VERSION, t: at, ...event })}\n`;
}

/** The first line of a run with problems of this number in contiguous shards of one size. */
export function startLine(problems: number, shards: number): string {
  const size = problems / shards;
  return eventLine({
    type: 'start',
    benchmark: 'word_problems',
    problems,
    repeats: 1,
    ranges: Array.from({ length: shards }, (_, shard) => [shard * size, (shard + 1) * size]),
    folder: '/results/run-1',
    evaluator: '0.3.0',
    ray: '2.60.0',
    python: '3.12.1',
  });
}

/** A batch with the answers at these positions, all right but for each third. */
export function answersLine(shard: number, from: number, to: number, at = 1): string {
  const answers: CompactAnswer[] = [];
  for (let position = from; position < to; position += 1) {
    answers.push([position, (position * 7919) % 1319, 0, position % 3 === 0 ? 0 : 1, 50 + (position % 40), 118, 'ok']);
  }
  return eventLine({ type: 'answers', shard, attempt: 0, answers }, at);
}

export function endLine(answered: number): string {
  return eventLine({
    type: 'end',
    outcome: 'complete',
    message: `All ${answered} answers are scored.`,
    answered,
    expected: answered,
    endpointErrors: 0,
    judgeErrors: 0,
    truncated: 0,
    empty: 0,
    missingShards: [],
  });
}
