import * as vscode from 'vscode';
import { createDisposables, type Event } from '../common/emitter';
import { createThrottle } from '../common/throttle';
import { findProblems, type GymProblem, type ProblemContext, type Severity } from '../gym/problems';
import type { ServerFile } from '../gym/serverFile';
import { readSilencing } from '../gym/silencing';
import { type PythonParser, withTree } from '../python/parser';
import { toRange } from './ranges';
import { pathOf, uriOf } from './workspaceSourceFiles';

export interface ProblemDependencies {
  readonly parser: PythonParser;
  readonly readings: {
    read(document: vscode.TextDocument): ServerFile | undefined | Promise<ServerFile | undefined>;
    readonly onDidChange: Event<unknown>;
  };
  /** What is known besides the file: which NeMo Gym reads it, and whether the code that it runs uses Ray. */
  readonly contextOf: (path: string) => Promise<ProblemContext>;
  /** The page that explains each problem. */
  readonly documentation: vscode.Uri;
  readonly onError: (error: unknown) => void;
}

/** The problems that are shown, for who offers to mend them. */
export interface ShownProblems extends vscode.Disposable {
  /** Those of the document as it is now; none while its problems are still being looked for. */
  of(document: vscode.TextDocument): readonly GymProblem[];
  /** Looks for those of the text as it is at this moment: who saves does not wait until they are shown. */
  findNow(document: vscode.TextDocument): Promise<readonly GymProblem[]>;
}

const SECTION = 'shardboard.problems';
const REFRESH_MS = 400;

const SEVERITIES: Readonly<Record<Severity, vscode.DiagnosticSeverity>> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information,
  hint: vscode.DiagnosticSeverity.Hint,
};

/** Shows the problems of open server files. Nothing is parsed in files that have nothing to do with Gym. */
export function registerProblems(dependencies: ProblemDependencies): ShownProblems {
  const { readings, onError } = dependencies;
  const disposables = createDisposables();
  const collection = disposables.add(vscode.languages.createDiagnosticCollection('shardboard'));
  const shown = new WeakMap<vscode.TextDocument, { version: number; problems: readonly GymProblem[] }>();

  const find = async (document: vscode.TextDocument): Promise<readonly GymProblem[] | undefined> => {
    const found = isEnabled(document) ? await problemsIn(document, dependencies) : [];
    return found?.filter((problem) => !isOff(problem, document));
  };

  const refresh = async (document: vscode.TextDocument): Promise<void> => {
    const { version } = document;
    const problems = await find(document);
    if (document.isClosed || document.version !== version || problems === undefined) {
      return;
    }
    shown.set(document, { version, problems });
    collection.set(
      document.uri,
      problems.map((problem) => toDiagnostic(problem, document, dependencies)),
    );
  };

  const waiting = new Set<vscode.TextDocument>();
  const refreshWaiting = disposables.add(
    createThrottle(() => {
      const documents = [...waiting];
      waiting.clear();
      for (const document of documents) {
        refresh(document).catch(onError);
      }
    }, REFRESH_MS),
  );
  const add = (document: vscode.TextDocument): void => {
    if (isServerFile(document)) {
      waiting.add(document);
      refreshWaiting.request();
    }
  };
  const addAll = (): void => vscode.workspace.textDocuments.forEach(add);

  disposables.add(vscode.workspace.onDidOpenTextDocument(add));
  disposables.add(vscode.workspace.onDidChangeTextDocument(({ document }) => add(document)));
  disposables.add(vscode.workspace.onDidCloseTextDocument(({ uri }) => collection.delete(uri)));
  disposables.add(readings.onDidChange(addAll));
  disposables.add(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(SECTION)) {
        addAll();
      }
    }),
  );
  addAll();
  return {
    of(document) {
      const known = shown.get(document);
      return known?.version === document.version ? known.problems : [];
    },
    findNow: async (document) => (isServerFile(document) ? ((await find(document)) ?? []) : []),
    dispose: () => disposables.dispose(),
  };
}

/** A cell of a notebook is no server. */
function isServerFile({ languageId, uri }: vscode.TextDocument): boolean {
  return languageId === 'python' && uri.scheme !== 'vscode-notebook-cell' && uri.scheme !== 'git';
}

function isEnabled(document: vscode.TextDocument): boolean {
  return vscode.workspace.getConfiguration(SECTION, document).get('enabled', true);
}

/** Undefined while the text does not parse: what is being typed leaves the problems as they are. */
async function problemsIn(
  document: vscode.TextDocument,
  { readings, contextOf, parser }: ProblemDependencies,
): Promise<readonly GymProblem[] | undefined> {
  const file = await readings.read(document);
  if (!file) {
    return [];
  }
  if (!file.parses) {
    return undefined;
  }
  if (file.classes.length + file.startedElsewhere.length + file.remotes.length === 0) {
    return [];
  }
  const found = findProblems(file, await contextOf(pathOf(document.uri)));
  const text = document.getText();
  if (found.length === 0 || !text.includes('shardboard:')) {
    return found;
  }
  const isSilenced = await withTree(parser, text, (root) => readSilencing(root, text));
  return found.filter((problem) => !isSilenced(problem));
}

function toDiagnostic(
  problem: GymProblem,
  document: vscode.TextDocument,
  { documentation }: ProblemDependencies,
): vscode.Diagnostic {
  const severity = severityOf(problem, document);
  const diagnostic = new vscode.Diagnostic(toRange(problem.range), problem.message, SEVERITIES[severity]);
  diagnostic.source = 'Shardboard';
  diagnostic.code = { value: problem.code, target: documentation.with({ fragment: problem.code }) };
  if (problem.related) {
    const { file, range, message } = problem.related;
    const uri = file === undefined ? document.uri : uriOf(file);
    diagnostic.relatedInformation = [
      new vscode.DiagnosticRelatedInformation(new vscode.Location(uri, toRange(range)), message),
    ];
  }
  return diagnostic;
}

function severityOf(problem: GymProblem, document: vscode.TextDocument): Severity {
  const chosen = chosenSeverity(problem, document);
  return chosen === 'error' || chosen === 'warning' || chosen === 'information' || chosen === 'hint'
    ? chosen
    : problem.severity;
}

/** Whether a setting turns a problem off. */
function isOff(problem: GymProblem, document: vscode.TextDocument): boolean {
  return chosenSeverity(problem, document) === 'off';
}

/** What the setting says of a problem; anything may have been written there. */
function chosenSeverity({ code }: GymProblem, document: vscode.TextDocument): unknown {
  return vscode.workspace.getConfiguration(SECTION, document).get<Record<string, unknown>>('severity')?.[code];
}
