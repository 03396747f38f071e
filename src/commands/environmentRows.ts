import type { PythonEnvironment } from '../python/environment';
import {
  type EnvironmentProblem,
  type EnvironmentUse,
  environmentProblems,
  type Package,
} from '../python/environmentProblems';
import type { BasePython } from '../python/makeEnvironment';
import { isAtLeast, isSupportedEvaluator, PYTHON_OF_GYM } from '../python/supportedVersions';

/** What a row does when it is chosen. */
export type RowAction =
  | { readonly kind: 'install'; readonly python: string; readonly about: Package }
  | { readonly kind: 'make'; readonly base: BasePython }
  | { readonly kind: 'choose' }
  | { readonly kind: 'setting' };

/** A row of "Set Up Python Environment"; one without an action only tells. */
export interface EnvironmentRow {
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
  readonly isHeading?: true;
  readonly action?: RowAction;
}

/** What is known of a folder's environment. */
export interface EnvironmentFacts {
  /** The interpreter with what it has, or why there is none, in sentences. */
  readonly found: { readonly path: string; readonly from: string; readonly environment: PythonEnvironment } | string;
  /** Whether the workspace has Gym servers. */
  readonly wantsGym: boolean;
  /** What an environment could be made with; undefined when nothing, or when there is no folder for it. */
  readonly base?: BasePython | undefined;
  /** Whether one of VS Code's Python extensions is there, and what it has chosen would count. */
  readonly canChoose: boolean;
}

/** What the command shows. Nothing is installed before a row that says so is chosen. */
export function environmentRows(facts: EnvironmentFacts): readonly EnvironmentRow[] {
  const { found, base } = facts;
  const others: EnvironmentRow[] = [];
  if (base && mayWantAnother(facts) && isBetter(base, facts)) {
    const description = `In the workspace's folder, with ${base.path}`;
    others.push({
      label: `$(add) Make an environment with Python ${base.version}`,
      description,
      action: { kind: 'make', base },
    });
  }
  if (facts.canChoose) {
    others.push({ label: '$(list-selection) Choose in the Python extension', action: { kind: 'choose' } });
  }
  others.push({ label: '$(gear) Open the setting shardboard.pythonPath', action: { kind: 'setting' } });
  const rows =
    typeof found === 'string'
      ? [heading('Python'), { label: '$(error) No Python that can be used', detail: found }]
      : [
          heading('Python'),
          {
            label: `$(snake) Python ${found.environment.python}`,
            description: found.path,
            detail: `From ${found.from}`,
          },
          heading('What it has'),
          ...whatItHas(found.path, found.environment, facts.wantsGym),
        ];
  return [...rows, heading('Another one'), ...others];
}

/** Whether a new environment could do more than the one that is there, so that it is worth looking for a Python. */
export function mayWantAnother({ found, wantsGym }: Pick<EnvironmentFacts, 'found' | 'wantsGym'>): boolean {
  return typeof found === 'string' || isUnfit(found.environment) || (wantsGym && cannotHaveGym(found.environment));
}

/** Whether it would, made with this Python. */
function isBetter(base: BasePython, { found }: EnvironmentFacts): boolean {
  return typeof found === 'string' || isUnfit(found.environment) || isAtLeast(base.version, PYTHON_OF_GYM);
}

/** What is not an environment is shared with all that runs on the machine. */
function isUnfit(environment: PythonEnvironment): boolean {
  return (
    !environment.isVirtual || environmentProblems(environment, 'benchmark').some(({ about }) => about === 'python')
  );
}

function cannotHaveGym(environment: PythonEnvironment): boolean {
  return environmentProblems(environment, 'gym').some(({ about }) => about === 'python');
}

function whatItHas(path: string, environment: PythonEnvironment, wantsGym: boolean): EnvironmentRow[] {
  const { ray, rayDefault, nemoEvaluator, scipy, nemoGym } = environment;
  const uses: readonly EnvironmentUse[] = wantsGym || nemoGym !== undefined ? ['benchmark', 'gym'] : ['benchmark'];
  const problems = uses.flatMap((use) => environmentProblems(environment, use));
  const there = [
    ...(ray !== undefined && rayDefault ? [`Ray ${ray}, with its dashboard`] : []),
    ...(nemoEvaluator !== undefined && isSupportedEvaluator(nemoEvaluator) ? [`NeMo Evaluator ${nemoEvaluator}`] : []),
    ...(scipy ? ['scipy'] : []),
    ...(nemoGym !== undefined && environmentProblems(environment, 'gym').length === 0 ? [`NeMo Gym ${nemoGym}`] : []),
  ];
  // The same may stand in the way of both uses.
  const sentences = new Set<string>();
  const distinct = problems.filter(({ message }) => !sentences.has(message) && sentences.add(message));
  return [...there.map((label) => ({ label: `$(pass) ${label}` })), ...distinct.map((one) => problemRow(path, one))];
}

function problemRow(python: string, { about, message, fix }: EnvironmentProblem): EnvironmentRow {
  if (!fix || about === 'python') {
    return { label: `$(warning) ${message}` };
  }
  return {
    label: `$(cloud-download) ${fix.title}`,
    description: fix.requirements.join(' '),
    detail: message,
    action: { kind: 'install', python, about },
  };
}

function heading(label: string): EnvironmentRow {
  return { label, isHeading: true };
}
