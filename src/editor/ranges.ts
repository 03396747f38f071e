import * as vscode from 'vscode';
import type { SourceRange } from '../python/syntax';

/** Both count lines from 0 and columns in UTF-16. */
export function toRange(range: SourceRange): vscode.Range {
  return new vscode.Range(range.startLine, range.startColumn, range.endLine, range.endColumn);
}
