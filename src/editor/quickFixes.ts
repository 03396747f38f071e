import * as vscode from 'vscode';
import { changesFor, fixTitle, hasOneSafeFix, silencingChange } from '../gym/fixProblem';
import { applyChanges, type TextChange } from '../gym/flagEdits';
import type { GymProblem } from '../gym/problems';
import { type PythonParser, withTree } from '../python/parser';
import { editBetween } from '../python/textEdit';
import type { ShownProblems } from './problems';
import { toEdit, toRange } from './ranges';

const FIX_ALL = vscode.CodeActionKind.SourceFixAll.append('shardboard');

/** Offers to mend the problems that are shown. */
export function registerQuickFixes(parser: PythonParser, shown: ShownProblems): vscode.Disposable {
  return vscode.languages.registerCodeActionsProvider(
    { language: 'python' },
    {
      async provideCodeActions(document, range, context) {
        const problems = shown.of(document);
        if (context.only && FIX_ALL.intersects(context.only)) {
          return [await fixAll(parser, document, problems)].filter((action) => action !== undefined);
        }
        const here = problems.filter((problem) => toRange(problem.range).intersection(range));
        const actions = await Promise.all(here.map((problem) => fixesOf(parser, document, problem, context)));
        return actions.flat();
      },
    },
    { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix, FIX_ALL] },
  );
}

async function fixesOf(
  parser: PythonParser,
  document: vscode.TextDocument,
  problem: GymProblem,
  { diagnostics }: vscode.CodeActionContext,
): Promise<vscode.CodeAction[]> {
  const text = document.getText();
  const mended = diagnostics.filter(
    ({ range, source }) => source === 'Shardboard' && range.isEqual(toRange(problem.range)),
  );
  const toAction = (title: string, changes: readonly TextChange[]): vscode.CodeAction => {
    const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
    action.edit = toEdit(document, changes);
    action.diagnostics = mended;
    return action;
  };
  const actions = await withTree(parser, text, (root) =>
    problem.fixes.flatMap((fix) => {
      const changes = changesFor(fix, problem.subject, root, text);
      return changes ? [toAction(fixTitle(fix), changes)] : [];
    }),
  );
  const [advised] = actions;
  if (advised) {
    advised.isPreferred = true;
  }
  return [
    ...actions,
    toAction(`Silence ${problem.code} here`, [silencingChange(problem.code, problem.range.startLine, text)]),
  ];
}

/** One action that mends everything for which there is one safe way. */
async function fixAll(
  parser: PythonParser,
  document: vscode.TextDocument,
  problems: readonly GymProblem[],
): Promise<vscode.CodeAction | undefined> {
  const original = document.getText();
  let text = original;
  // From the end to the beginning: what is above stays where it is, but for imports, which come at the top.
  const waiting = problems
    .filter(hasOneSafeFix)
    .map((problem) => ({ problem, offset: document.offsetAt(toRange(problem.subject).start) }))
    .sort((one, other) => other.offset - one.offset);
  for (const [index, { problem, offset }] of waiting.entries()) {
    const [fix] = problem.fixes;
    const subject = moved(problem, offset, text);
    const before = text;
    const changes = fix && (await withTree(parser, before, (root) => changesFor(fix, subject, root, before)));
    if (changes) {
      text = applyChanges(text, changes);
      for (const later of waiting.slice(index + 1)) {
        later.offset += changes
          .filter(({ start }) => start <= later.offset)
          .reduce((sum, change) => sum + change.text.length - (change.end - change.start), 0);
      }
    }
  }
  const edit = editBetween(original, text);
  if (!edit) {
    return undefined;
  }
  const action = new vscode.CodeAction('Fix all Shardboard problems that have one safe fix', FIX_ALL);
  const changed = {
    start: edit.startIndex,
    end: edit.oldEndIndex,
    text: text.slice(edit.startIndex, edit.newEndIndex),
  };
  action.edit = toEdit(document, [changed]);
  return action;
}

/** The subject of a problem where it stands now: it keeps its length, and its end its line when it has only one. */
function moved({ subject }: GymProblem, offset: number, text: string): GymProblem['subject'] {
  const before = text.slice(0, offset);
  const startLine = before.split('\n').length - 1;
  const startColumn = offset - (before.lastIndexOf('\n') + 1);
  const lines = subject.endLine - subject.startLine;
  return {
    startLine,
    startColumn,
    endLine: startLine + lines,
    endColumn: lines === 0 ? startColumn + subject.endColumn - subject.startColumn : subject.endColumn,
  };
}
