import * as v from 'valibot';
import * as vscode from 'vscode';
import { UserError } from '../common/userError';
import { toEdit } from '../editor/ranges';
import { declareFlag } from '../gym/flagEdits';
import { declareClassVar } from '../gym/importingEdits';
import { type PythonParser, withTree } from '../python/parser';

const Place = v.object({ startLine: v.number(), startColumn: v.number(), endLine: v.number(), endColumn: v.number() });

/** Asks whether a server needs Ray, and writes the answer into its class. The arguments are those of the code lens. */
export async function addRayEnabled(
  parser: PythonParser,
  uri: unknown,
  name: unknown,
  asClassVar: unknown,
): Promise<void> {
  const place = v.parse(Place, name);
  const declare = v.parse(v.optional(v.boolean(), false), asClassVar) ? declareClassVar : declareFlag;
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(v.parse(v.string(), uri)));
  const items = [
    { label: 'ray_enabled = False', detail: 'The server does not need Ray.', value: false },
    { label: 'ray_enabled = True', detail: 'The server connects to a Ray cluster.', value: true },
  ];
  const chosen = await vscode.window.showQuickPick(items, { title: 'Does the server need Ray?' });
  if (!chosen) {
    return;
  }
  const text = document.getText();
  const changes = await withTree(parser, text, (root) => declare(root, text, place, chosen.value));
  if (!changes) {
    throw new UserError(
      'The declaration could not be added: the class has changed, or its body gives ray_enabled a value in a way that another line would not overrule. Write it by hand.',
    );
  }
  await vscode.workspace.applyEdit(toEdit(document, changes));
}
