import { basename } from 'node:path';
import type { RunSnapshot } from '../protocol/runSnapshot';
import type { EarlierRun } from './estimate';
import type { OwnBenchmark } from './jobPackage';
import type { Runs } from './runs';

type History = Pick<Runs, 'all' | 'snapshot' | 'requestOf'>;
type Told = NonNullable<ReturnType<Runs['requestOf']>>;

/**
 * What the history tells about a run of this benchmark with this model: the size of the dataset from the last run of the
 * benchmark, the rest from the last one with the same model. Undefined when it tells nothing.
 */
export function earlierRunOf(
  history: History,
  benchmark: string | OwnBenchmark,
  modelId: string,
): EarlierRun | undefined {
  const runs = [...history.all()].reverse().flatMap((id) => {
    const snapshot = history.snapshot(id);
    const told = history.requestOf(id);
    return snapshot && told && snapshot.problems > 0 && isSame(told, benchmark) ? [{ snapshot, told }] : [];
  });
  const sizes = runs.map(({ snapshot, told }) => sizeOf(snapshot, told)).filter((size) => size !== null);
  const same = runs.find(({ snapshot, told }) => told.request.modelId === modelId && snapshot.answered > 0);
  if (runs.length === 0) {
    return undefined;
  }
  return {
    datasetSize: sizes[0] ?? null,
    answered: same?.snapshot.answered ?? 0,
    tokens: same?.snapshot.tokens ?? 0,
    requestsInFlight: same?.told.request.requestsInFlight ?? 1,
    tookMs: same ? durationOf(same.snapshot) : null,
    medianLatencyMs: same ? medianLatencyOf(same.snapshot) : null,
  };
}

function isSame({ request, own }: Told, benchmark: string | OwnBenchmark): boolean {
  return typeof benchmark === 'string'
    ? own === null && request.benchmark === benchmark
    : own?.file === benchmark.file && own.name === benchmark.name;
}

/** Of the dataset; null when the run asked as many as it was allowed to, and there may be more. */
function sizeOf({ problems }: RunSnapshot, { request: { maxProblems } }: Told): number | null {
  return maxProblems === null || problems < maxProblems ? problems : null;
}

/** Null when it did not ask all of it, or found answers of an earlier run in its folder. */
function durationOf({ id, status, submittedAt, endedAt, outputFolder }: RunSnapshot): number | null {
  const isWhole = (status === 'complete' || status === 'partial') && basename(outputFolder) === id;
  return isWhole && endedAt !== null ? endedAt - submittedAt : null;
}

function medianLatencyOf({ shards }: RunSnapshot): number | null {
  const medians = shards.flatMap(({ medianLatencyMs }) => medianLatencyMs ?? []).sort((a, b) => a - b);
  return medians[Math.floor(medians.length / 2)] ?? null;
}
