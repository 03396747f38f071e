import * as vscode from 'vscode';
import type { Event } from '../common/emitter';
import { createDisposables } from '../common/emitter';

const SCHEME = 'shardboard-log';

/** The drivers' logs as read-only documents that grow while their run goes on. */
export interface RunLogs extends vscode.Disposable {
  show(runId: string): Promise<void>;
}

export function registerRunLogs(source: { log(id: string): string; readonly onDidChange: Event<string> }): RunLogs {
  const disposables = createDisposables();
  const changed = disposables.add(new vscode.EventEmitter<vscode.Uri>());
  const uriOf = (id: string): vscode.Uri => vscode.Uri.from({ scheme: SCHEME, path: `/${id}.log` });
  // What the document showed last, so that a run's four changes a second do not load it anew without need.
  const shown = new Map<string, string>();
  disposables.add(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: changed.event,
      provideTextDocumentContent(uri) {
        const id = uri.path.slice(1).replace(/\.log$/, '');
        const log = source.log(id);
        shown.set(id, log);
        return log === '' ? 'Nothing has been logged yet.' : log;
      },
    }),
  );
  disposables.add(
    vscode.workspace.onDidCloseTextDocument((document) => {
      if (document.uri.scheme === SCHEME) {
        shown.delete(document.uri.path.slice(1).replace(/\.log$/, ''));
      }
    }),
  );
  disposables.add(
    source.onDidChange((id) => {
      if (shown.has(id) && shown.get(id) !== source.log(id)) {
        changed.fire(uriOf(id));
      }
    }),
  );
  return {
    async show(runId) {
      await vscode.window.showTextDocument(uriOf(runId), { preview: true });
    },
    dispose: () => disposables.dispose(),
  };
}
