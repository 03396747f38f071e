/**
 * A dashboard in a process of its own, so that its work is not counted as ours: its one job answers so many questions a
 * second, told in batches of a shard four times a second as the driver tells them.
 *
 *   node streamingDashboard.cjs answers-a-second answers-at-once answers-in-all
 */
import { answersLine, endLine, startLine } from '../support/driverLines';
import { startFakeDashboard } from '../support/fakeDashboard';

const SHARDS = 8;
const BATCHES_A_SECOND = 4;

async function main(): Promise<void> {
  const [perSecond = 0, atOnce = 0, inAll = 0] = process.argv.slice(2).map(Number);
  const dashboard = await startFakeDashboard();
  const perShard = inAll / SHARDS;
  const asked: number[] = Array.from({ length: SHARDS }, () => 0);
  const write = (shard: number, count: number): void => {
    const from = shard * perShard + (asked[shard] ?? 0);
    asked[shard] = (asked[shard] ?? 0) + count;
    dashboard.write(answersLine(shard, from, from + count, Date.now() / 1000));
  };
  dashboard.write(
    `Running entrypoint for job run-1: python -u -m shardboard_driver request.json\n${startLine(inAll, SHARDS)}`,
  );
  const batch = 50;
  for (let done = 0; done < atOnce; done += batch) {
    write((done / batch) % SHARDS, batch);
  }
  if (perSecond === 0) {
    dashboard.write(endLine(inAll));
    dashboard.job = { status: 'SUCCEEDED' };
  } else {
    let turn = 0;
    setInterval(
      () => {
        write(turn % SHARDS, Math.ceil(perSecond / BATCHES_A_SECOND / SHARDS));
        turn += 1;
      },
      1000 / BATCHES_A_SECOND / SHARDS,
    );
  }
  process.send?.(dashboard.url);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
