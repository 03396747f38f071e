/** What can be known of a run of the evaluator's own launcher: its command line, its tasks, and the bundle that it leaves. */
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import * as v from 'valibot';
import { category, score } from '../protocol/driverEvents';
import type { RayTask } from '../ray/client';
import type { ShardCounts, StockResult } from './runState';

const MODULE = /\bnemo_evaluator\.engine\.ray_launcher\b/;
/** The function that asks one shard; its tasks have no other name. */
const SHARD_TASK = 'run_shard';

export interface StockArguments {
  readonly benchmark: string;
  readonly shards: number;
  readonly repeats: number;
  /** Undefined when an environment variable of the cluster names it. */
  readonly modelId: string | undefined;
  /** As it was given: a relative one is below a folder that Ray deletes. */
  readonly outputFolder: string;
}

/** The arguments of a job that runs the launcher, with the launcher's own defaults; undefined for every other job. */
export function stockArguments(entrypoint: string): StockArguments | undefined {
  if (!MODULE.test(entrypoint)) {
    return undefined;
  }
  const words = wordsOf(entrypoint);
  const option = (long: string, short?: string): string | undefined => {
    for (const [index, word] of words.entries()) {
      if (word === long || word === short) {
        return words[index + 1];
      }
      if (word.startsWith(`${long}=`)) {
        return word.slice(long.length + 1);
      }
    }
    return undefined;
  };
  return {
    benchmark: option('--benchmark', '-b') ?? 'unknown benchmark',
    shards: Number(option('--shards', '-s') ?? 4) || 0,
    repeats: Number(option('--repeats', '-n') ?? 1) || 1,
    modelId: option('--model-id'),
    outputFolder: option('--output-dir', '-o') ?? './eval_results/ray',
  };
}

/** The words of a command line as a shell takes them, as far as people write them. */
function wordsOf(commandLine: string): readonly string[] {
  return [...commandLine.matchAll(/(?:"(?:\\.|[^"])*"|'[^']*'|\\.|[^\s"'\\])+/g)].map(([word]) =>
    word.replace(/"((?:\\.|[^"])*)"|'([^']*)'|\\(.)/g, (_all, double, single, escaped) => double ?? single ?? escaped),
  );
}

/** How many shards are how far. Which shard a task asks, Ray does not tell. */
export function countShards(tasks: readonly RayTask[], shards: number): ShardCounts {
  const last = new Map<string, RayTask>();
  for (const task of tasks.filter(({ name }) => name === SHARD_TASK)) {
    const before = last.get(task.id);
    if (!before || before.attempt < task.attempt) {
      last.set(task.id, task);
    }
  }
  const count = (state: string): number => [...last.values()].filter((task) => task.state === state).length;
  const [running, finished, failed] = [count('RUNNING'), count('FINISHED'), count('FAILED')];
  return { running, finished, failed, waiting: Math.max(shards, last.size) - running - finished - failed };
}

const bundle = v.looseObject({
  timestamp: v.string(),
  config: v.looseObject({ benchmark: v.string(), model: v.string() }),
  benchmark: v.looseObject({
    samples: v.number(),
    repeats: v.number(),
    scores: v.record(v.string(), v.unknown()),
    categories: v.nullish(v.record(v.string(), category)),
  }),
  n_results: v.number(),
});
const summary = v.looseObject({ mean: v.number(), n: v.number() });

/**
 * Reads what the launcher left, when its folder is on this machine: the newest bundle of this benchmark that is not older
 * than the job, and from the rows beside it how many answers failed at the endpoint, which no bundle of it tells.
 *
 * @param since when the job began, in milliseconds since 1970
 */
export async function readStockResult(launched: StockArguments, since: number): Promise<StockResult | undefined> {
  const { outputFolder, benchmark, modelId } = launched;
  if (!isAbsolute(outputFolder)) {
    return undefined;
  }
  const names = await readdir(outputFolder).catch(() => []);
  for (const name of names
    .filter((one) => /^eval-.*\.json$/.test(one))
    .sort()
    .reverse()) {
    const path = join(outputFolder, name);
    const read = v.safeParse(bundle, await readFile(path, 'utf8').then(JSON.parse, () => undefined));
    const isOfJob =
      read.success &&
      read.output.config.benchmark === benchmark &&
      (modelId === undefined || read.output.config.model === modelId) &&
      Date.parse(read.output.timestamp) >= since;
    if (isOfJob) {
      const { samples, repeats, scores, categories } = read.output.benchmark;
      const sum = v.safeParse(summary, scores.summary);
      const parsed = Object.entries(scores).map(([metric, value]) => [metric, v.safeParse(score, value)] as const);
      return {
        path,
        problems: samples,
        repeats,
        answered: read.output.n_results,
        rewardSum: sum.success ? sum.output.mean * sum.output.n : 0,
        endpointErrors: await countEndpointErrors(join(outputFolder, 'results.jsonl'), since),
        scores: Object.fromEntries(
          parsed.flatMap(([metric, value]) => (value.success ? [[metric, value.output] as const] : [])),
        ),
        categories: categories ?? {},
      };
    }
  }
  return undefined;
}

/** Not parsed: the file is ten times as long as the bundle, and in a text of the model the quotes would be escaped. */
const ENDPOINT_ERROR = /"error_category": ?"infra_error"/;

async function countEndpointErrors(path: string, since: number): Promise<number> {
  const file = await stat(path).catch(() => undefined);
  if (!file || file.mtimeMs < since) {
    return 0;
  }
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    count += ENDPOINT_ERROR.test(line) ? 1 : 0;
  }
  return count;
}
