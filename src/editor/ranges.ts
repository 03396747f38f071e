import * as vscode from 'vscode';
import type { TextChange } from '../gym/flagEdits';
import type { SourceRange } from '../python/syntax';

/** Both count lines from 0 and columns in UTF-16. */
export function toRange(range: SourceRange): vscode.Range {
  return new vscode.Range(range.startLine, range.startColumn, range.endLine, range.endColumn);
}

/** Changes of a document as VS Code applies them. */
export function toEdit(document: vscode.TextDocument, changes: readonly TextChange[]): vscode.WorkspaceEdit {
  const edit = new vscode.WorkspaceEdit();
  for (const { start, end, text } of changes) {
    edit.replace(document.uri, new vscode.Range(document.positionAt(start), document.positionAt(end)), text);
  }
  return edit;
}
