/**
 * The versions that Shardboard is made for, stated here and nowhere else in the extension. The driver has the evaluator's
 * once more, in `driver/shardboard_driver/evaluator_check.py`, since it checks where the job runs; a test holds the two together.
 */

/** NeMo Evaluator 0.3.x. Its parts that the driver builds on are no public interface: another version is another one. */
export const SUPPORTED_EVALUATOR = '0.3';

/** Older ones are not tried; what a next major one brings nobody knows. */
const OLDEST_RAY = '2.49';

/** Since this one, servers say `ray_enabled`. */
const GYM_WITH_RAY_ENABLED = '0.7';

/** NeMo Gym 0.7 asks for this one; on an older Python pip silently takes NeMo Gym 0.4. */
export const PYTHON_OF_GYM = '3.13.14';

/** What is given to pip. `stats` brings scipy: without it a run with repeats fails after its last answer. */
export const REQUIREMENTS = {
  ray: 'ray[default]',
  evaluator: `nemo-evaluator[ray,stats]~=${SUPPORTED_EVALUATOR}.0`,
  scipy: 'scipy>=1.10',
  gym: `nemo-gym>=${GYM_WITH_RAY_ENABLED}`,
} as const;

/** Whether NeMo Evaluator and Ray can be had for a Python of this version. */
export function isSupportedPython(version: string): boolean {
  return /^3\.1[23]\./.test(version);
}

/** What benchmarks need of a cluster, as the end of a sentence. */
export const SUPPORTED_CLUSTER = `Ray ${OLDEST_RAY} or a later 2.x, on Python 3.12 or 3.13`;

/** Whether benchmarks run on a cluster of these versions, as it tells them itself. */
export function isSupportedCluster(ray: string, python: string): boolean {
  return ray.startsWith('2.') && isAtLeast(ray, OLDEST_RAY) && isSupportedPython(python);
}

export function isSupportedEvaluator(version: string): boolean {
  return version.startsWith(`${SUPPORTED_EVALUATOR}.`);
}

/** Whether a nemo-gym knows `ray_enabled`. */
export function knowsRayEnabled(gym: string): boolean {
  return isAtLeast(gym, GYM_WITH_RAY_ENABLED);
}

/** Whether a version such as 3.13.2 or 0.7.0rc1 is that one or a later one. Compares the numbers only. */
export function isAtLeast(version: string, least: string): boolean {
  return compareVersions(version, least) >= 0;
}

/** Negative when the first one is older. */
export function compareVersions(one: string, other: string): number {
  const ones = numbersOf(one);
  const others = numbersOf(other);
  for (let index = 0; index < Math.max(ones.length, others.length); index++) {
    const difference = (ones[index] ?? 0) - (others[index] ?? 0);
    if (difference !== 0) {
      return difference;
    }
  }
  return 0;
}

function numbersOf(version: string): number[] {
  const release = /^\d+(?:\.\d+)*/.exec(version)?.[0] ?? '';
  return release.split('.').map(Number);
}
