import * as vscode from 'vscode';
import { fixAll } from '../gym/fixAll';
import { changesFor, fixTitle, silencingChange } from '../gym/fixProblem';
import type { TextChange } from '../gym/flagEdits';
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
        if (context.only && FIX_ALL.intersects(context.only)) {
          return [await fixAllAction(parser, document, shown)].filter((action) => action !== undefined);
        }
        const here = shown.of(document).filter((problem) => toRange(problem.range).intersection(range));
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
async function fixAllAction(
  parser: PythonParser,
  document: vscode.TextDocument,
  shown: ShownProblems,
): Promise<vscode.CodeAction | undefined> {
  const { version } = document;
  const original = document.getText();
  const text = await fixAll(parser, original, await shown.findNow(document));
  const edit = document.version === version ? editBetween(original, text) : undefined;
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
