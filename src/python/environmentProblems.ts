import type { PythonEnvironment } from './environment';
import {
  isAtLeast,
  isSupportedEvaluator,
  isSupportedPython,
  knowsRayEnabled,
  PYTHON_OF_GYM,
  REQUIREMENTS,
  SUPPORTED_EVALUATOR,
} from './supportedVersions';

/** What an environment is wanted for: a cluster of our own, a cluster that runs benchmarks, or NeMo Gym's servers. */
export type EnvironmentUse = 'cluster' | 'benchmark' | 'gym';

/** What may be missing, by which the button that installs it names it. */
export const PACKAGES = ['ray', 'evaluator', 'scipy', 'gym'] as const;
export type Package = (typeof PACKAGES)[number];

/** One thing that keeps an environment from being used. */
export interface EnvironmentProblem {
  readonly about: Package | 'python';
  /** What it is and what follows, in a sentence or two. */
  readonly message: string;
  /** What installs it into this environment; none when another environment is needed. */
  readonly fix?: { readonly title: string; readonly requirements: readonly string[] };
}

/** What keeps an environment from being used. Empty when all is well. */
export function environmentProblems(
  environment: PythonEnvironment,
  use: EnvironmentUse,
): readonly EnvironmentProblem[] {
  const unsuitable = unsuitablePython(environment, use);
  if (unsuitable !== undefined) {
    // On its own: on an unsuitable Python, pip silently installs another product under the same name.
    return [{ about: 'python', message: unsuitable }];
  }
  const missing = use === 'gym' ? missingForGym(environment) : missingForRay(environment, use);
  const keepsOff = missing.length > 0 ? whyNothingCanBeInstalled(environment) : undefined;
  if (keepsOff === undefined) {
    return missing;
  }
  return [{ about: 'python', message: keepsOff }, ...missing.map(({ about, message }) => ({ about, message }))];
}

function unsuitablePython({ python, executable, isOrdinary, nemoGym }: PythonEnvironment, use: EnvironmentUse) {
  if (use === 'gym') {
    const isOld = !isAtLeast(python, PYTHON_OF_GYM);
    const has = nemoGym === undefined ? '' : ` It has NeMo Gym ${nemoGym}, which does not know ray_enabled.`;
    return isOld && (nemoGym === undefined || !knowsRayEnabled(nemoGym))
      ? `${executable} is Python ${python}, and NeMo Gym 0.7 needs ${PYTHON_OF_GYM} or newer: on this one, pip takes an old NeMo Gym that does not know ray_enabled.${has}`
      : undefined;
  }
  if (!isSupportedPython(python)) {
    const trap = isAtLeast(python, '3.12')
      ? ''
      : ': on this one, pip takes another product, which had the same name before';
    return `${executable} is Python ${python}, and NeMo Evaluator needs 3.12 or 3.13${trap}.`;
  }
  return isOrdinary ? undefined : `${executable} is a build of Python for which Ray has no packages.`;
}

/** Undefined when things can be installed. */
function whyNothingCanBeInstalled({ executable, isManaged, isWritable }: PythonEnvironment): string | undefined {
  if (isManaged) {
    return `${executable} belongs to the operating system, which asks that nothing be installed into it. Make an environment for the workspace.`;
  }
  return isWritable
    ? undefined
    : `The packages of ${executable} may not be changed by you. Make an environment for the workspace.`;
}

function missingForRay(environment: PythonEnvironment, use: 'cluster' | 'benchmark'): readonly EnvironmentProblem[] {
  const { ray, rayDefault } = environment;
  const problems: EnvironmentProblem[] = [];
  if (ray === undefined) {
    problems.push(problem('ray', 'Ray is not installed.', 'Install Ray', [REQUIREMENTS.ray]));
  } else if (!rayDefault) {
    problems.push(
      problem(
        'ray',
        `Ray ${ray} is installed without its dashboard, through which benchmarks are sent and watched.`,
        'Install dashboard of Ray',
        [`${REQUIREMENTS.ray}==${ray}`],
      ),
    );
  }
  return use === 'benchmark' ? [...problems, ...missingForEvaluator(environment)] : problems;
}

function missingForEvaluator(environment: PythonEnvironment): readonly EnvironmentProblem[] {
  const { ray, nemoEvaluator, stockLauncher, scipy } = environment;
  // A Ray that is there stays as it is: a cluster may run from it.
  const evaluator = [REQUIREMENTS.evaluator, ...(ray === undefined ? [] : [`ray==${ray}`])];
  const title = `Install NeMo Evaluator ${SUPPORTED_EVALUATOR}`;
  if (nemoEvaluator === undefined) {
    return [problem('evaluator', 'NeMo Evaluator is not installed.', title, evaluator)];
  }
  if (!isSupportedEvaluator(nemoEvaluator)) {
    const other = stockLauncher
      ? ' Its own launcher can still be used: python -m nemo_evaluator.engine.ray_launcher --help tells how.'
      : '';
    const message = `NeMo Evaluator ${nemoEvaluator} is installed, and ${SUPPORTED_EVALUATOR} is supported.${other}`;
    return [problem('evaluator', message, title, evaluator)];
  }
  const why = 'scipy is missing, without which NeMo Evaluator fails after the last answer of a run with repeats.';
  return scipy ? [] : [problem('scipy', why, 'Install scipy', [REQUIREMENTS.scipy])];
}

function missingForGym({ ray, nemoGym }: PythonEnvironment): readonly EnvironmentProblem[] {
  const requirements = [REQUIREMENTS.gym, ...(ray === undefined ? [] : [`ray==${ray}`])];
  if (nemoGym === undefined) {
    return [problem('gym', 'NeMo Gym is not installed.', 'Install NeMo Gym', requirements)];
  }
  const old = `NeMo Gym ${nemoGym} is installed, which does not know ray_enabled.`;
  return knowsRayEnabled(nemoGym) ? [] : [problem('gym', old, 'Install newer NeMo Gym', requirements)];
}

function problem(about: Package, message: string, title: string, requirements: readonly string[]): EnvironmentProblem {
  return { about, message, fix: { title, requirements } };
}
