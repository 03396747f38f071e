import * as v from 'valibot';
import * as vscode from 'vscode';
import { UserError } from '../common/userError';
import { type PythonEnvironment, probeEnvironment } from '../python/environment';
import { type EnvironmentProblem, environmentProblems, PACKAGES, type Package } from '../python/environmentProblems';
import { findInstaller, type Installer, installPackages } from '../python/installPackages';
import type { InterpreterFinder } from '../python/interpreterFinder';
import { problemActions } from './checkEnvironment';
import { showError, withProgress } from './register';

export interface InstallDependencies {
  readonly interpreters: InterpreterFinder;
  readonly log: vscode.LogOutputChannel;
}

const Arguments = v.tuple([v.string(), v.picklist(PACKAGES)]);

/** For the buttons of problems: installs one package into the environment of an interpreter, and says what it has then. */
export async function installPackageCommand(
  dependencies: InstallDependencies,
  args: readonly unknown[],
): Promise<void> {
  const parsed = v.safeParse(Arguments, args);
  if (!parsed.success) {
    await vscode.commands.executeCommand('shardboard.setUpEnvironment');
    return;
  }
  const [python, about] = parsed.output;
  await installPackage(dependencies, python, about);
  const left = environmentProblems(await probeEnvironment(python), about === 'gym' ? 'gym' : 'benchmark');
  const done = `It is installed in the environment of ${python}.`;
  if (left.length === 0) {
    void vscode.window.showInformationMessage(`${done} Nothing is missing there now.`);
  } else {
    const sentences = left.map(({ message }) => message).join(' ');
    void showError(new UserError(`${done} ${sentences}`, problemActions(python, left)), dependencies.log);
  }
}

/** Environments that something is being installed into. Two installers at once would break it. */
const busy = new Set<string>();

/**
 * Installs what an environment lacks, and makes certain that it has it then. Call it only when a person has asked for it.
 *
 * @throws UserError when it has not got it afterwards; vscode.CancellationError when the person stops it
 */
export async function installPackage(
  { interpreters, log }: InstallDependencies,
  python: string,
  about: Package,
): Promise<void> {
  const environment = await probeEnvironment(python);
  const problem = problemAbout(environment, about);
  if (!problem) {
    return;
  }
  if (!problem.fix) {
    throw new UserError(problem.message, problemActions(python, [problem]));
  }
  const { title, requirements } = problem.fix;
  const installer = await agreedInstaller(environment, title);
  if (busy.has(environment.executable)) {
    throw new UserError(`Something is being installed into the environment of ${python} already. Wait for its end.`);
  }
  busy.add(environment.executable);
  try {
    await withProgress(title, (onStage, signal) =>
      installPackages(environment, installer, requirements, { onStage, onLine: (line) => log.info(line), signal }),
    );
  } finally {
    busy.delete(environment.executable);
    interpreters.installed();
  }
  const still = problemAbout(await probeEnvironment(python), about);
  if (still) {
    throw new UserError(`${title}: it ended without an error, but this is still so: ${still.message}`, [
      { title: 'Show log', command: 'shardboard.showLog' },
    ]);
  }
}

/** The problem with a package; one with the Python itself when that keeps the package out. */
function problemAbout(environment: PythonEnvironment, about: Package): EnvironmentProblem | undefined {
  const problems = environmentProblems(environment, about === 'gym' ? 'gym' : 'benchmark');
  return problems.find((problem) => problem.about === 'python') ?? problems.find((problem) => problem.about === about);
}

async function agreedInstaller(environment: PythonEnvironment, title: string): Promise<Installer> {
  const installer = await findInstaller(environment);
  if (installer.kind === 'ensurepip') {
    const detail = 'Python can put its own pip into the environment first (ensurepip). Nothing is downloaded for that.';
    const agreed = 'Install pip first';
    const chosen = await vscode.window.showInformationMessage(
      `${title}: the environment has no pip, and uv is not on the PATH.`,
      { modal: true, detail },
      agreed,
    );
    if (chosen !== agreed) {
      throw new vscode.CancellationError();
    }
  }
  return installer;
}
