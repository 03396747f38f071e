import * as v from 'valibot';

export const latency = v.variant('kind', [
  v.object({ kind: v.literal('constant'), ms: v.number() }),
  /** As real endpoints have it: most are quick, and a few take very long. */
  v.object({ kind: v.literal('logNormal'), medianMs: v.number(), percentile99Ms: v.number() }),
]);
export type Latency = v.InferOutput<typeof latency>;

export const modelSettings = v.object({
  latency,
  /** Answers a second, above which it says 429; null is no limit. */
  perSecond: v.nullable(v.number()),
  seed: v.number(),
});
export type ModelSettings = v.InferOutput<typeof modelSettings>;

/** 99 % of a normal distribution lie below so many standard deviations. */
const DEVIATIONS_99 = 2.326;

/** One latency in ms. */
export function latencyOf(kind: Latency, random: () => number): number {
  if (kind.kind === 'constant') {
    return kind.ms;
  }
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const deviation = Math.log(kind.percentile99Ms / kind.medianMs) / DEVIATIONS_99;
  return kind.medianMs * Math.exp(deviation * normal);
}

/**
 * How long it takes at best, in ms: each question is asked the moment that one in flight is answered, and never earlier than
 * the limit lets it come.
 */
export function idealSchedule(latencies: readonly number[], inFlight: number, perSecond: number | null): number {
  const free = new Array<number>(Math.min(inFlight, latencies.length)).fill(0);
  let end = 0;
  latencies.forEach((each, index) => {
    let next = 0;
    for (let place = 1; place < free.length; place++) {
      if ((free[place] ?? 0) < (free[next] ?? 0)) {
        next = place;
      }
    }
    // The first second's worth may come at once.
    const allowed = perSecond === null ? 0 : Math.max(0, ((index + 1 - perSecond) / perSecond) * 1000);
    const answered = Math.max(free[next] ?? 0, allowed) + each;
    free[next] = answered;
    end = Math.max(end, answered);
  });
  return end;
}
