import { type ErrorAction, UserError } from '../common/userError';
import { probeEnvironment } from '../python/environment';
import { type EnvironmentProblem, type EnvironmentUse, environmentProblems } from '../python/environmentProblems';

/**
 * Makes certain that the environment of an interpreter has what it is wanted for.
 *
 * @throws UserError with a sentence for each thing that it lacks, and a button that installs exactly that
 */
export async function checkEnvironment(python: string, use: EnvironmentUse): Promise<void> {
  const problems = environmentProblems(await probeEnvironment(python), use);
  if (problems.length > 0) {
    const sentences = problems.map(({ message }) => message).join(' ');
    throw new UserError(
      `The environment of ${python} cannot be used yet. ${sentences}`,
      problemActions(python, problems),
    );
  }
}

/** A button for each problem that an installation solves, and one that shows the whole environment. */
export function problemActions(python: string, problems: readonly EnvironmentProblem[]): readonly ErrorAction[] {
  const installs = problems.flatMap(({ about, fix }) =>
    fix ? [{ title: fix.title, command: 'shardboard.installPackage', args: [python, about] }] : [],
  );
  return [...installs, { title: 'Set up Python', command: 'shardboard.setUpEnvironment' }];
}
