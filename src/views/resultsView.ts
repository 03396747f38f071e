import * as vscode from 'vscode';
import type { Event } from '../common/emitter';
import { attachResultsPage, type OnPageAction } from './resultsPageHost';
import type { RunSource } from './runSource';

/** The view's id in package.json. */
const VIEW_ID = 'shardboard.results';

/** The results view in the side bar: the latest run. */
export function registerResultsView(
  context: vscode.ExtensionContext,
  runs: RunSource,
  onAction: OnPageAction,
): vscode.Disposable {
  const onDidChangeLatest: Event<void> = (listener) =>
    runs.onDidChange((id) => {
      if (id === runs.latest()) {
        listener();
      }
    });
  return vscode.window.registerWebviewViewProvider(VIEW_ID, {
    resolveWebviewView(view) {
      const attached = attachResultsPage(view.webview, {
        extensionUri: context.extensionUri,
        place: 'view',
        isVisible: () => view.visible,
        onDidChangeVisibility: (listener) => view.onDidChangeVisibility(listener),
        snapshot: () => {
          const latest = runs.latest();
          return latest === undefined ? undefined : runs.snapshot(latest);
        },
        onDidChange: onDidChangeLatest,
        onAction,
      });
      view.onDidDispose(() => attached.dispose());
    },
  });
}
