import type { RunSnapshot } from '../protocol/runSnapshot';

/** Longest text of one shard, and of the run, in characters. The log has the rest. */
const SHARD_TEXT = 200;
const RUN_TEXT = 2000;

/**
 * A snapshot that is small enough to be sent four times a second whatever went wrong: below 256 KB for a run of
 * 1,000 shards. Only texts can be long, and they are cut with an ellipsis.
 */
export function fitToPage(run: RunSnapshot): RunSnapshot {
  // With many shards each has less to say, so that together they stay below the limit.
  const perShard = Math.min(SHARD_TEXT, Math.floor(40_000 / Math.max(1, run.shards.length)));
  return {
    ...run,
    message: cut(run.message, RUN_TEXT),
    shards: run.shards.map((shard) => ({ ...shard, message: cut(shard.message, perShard) })),
  };
}

function cut(text: string | null, length: number): string | null {
  return text === null || text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
