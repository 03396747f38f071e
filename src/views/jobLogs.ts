import * as vscode from 'vscode';
import { createDisposables } from '../common/emitter';
import { hideKeys } from '../ray/hideKeys';

const SCHEME = 'shardboard-job-log';

/** The logs of jobs that are not runs of this window, as read-only documents. */
export interface JobLogs extends vscode.Disposable {
  /** Reads the log and shows it; one that is open already is read anew. */
  show(jobId: string): Promise<void>;
}

export function registerJobLogs(read: (jobId: string) => Promise<string>): JobLogs {
  const disposables = createDisposables();
  const changed = disposables.add(new vscode.EventEmitter<vscode.Uri>());
  const logs = new Map<string, string>();
  disposables.add(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: changed.event,
      provideTextDocumentContent: (uri) => logs.get(uri.path) ?? '',
    }),
  );
  disposables.add(
    vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      if (uri.scheme === SCHEME) {
        logs.delete(uri.path);
      }
    }),
  );
  return {
    async show(jobId) {
      const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${jobId}.log` });
      // Before the document: an error is then told as that of a command. Ray writes the command line on top.
      const log = hideKeys(await read(jobId));
      logs.set(uri.path, log === '' ? 'Nothing has been logged yet.' : log);
      changed.fire(uri);
      await vscode.window.showTextDocument(uri, { preview: true });
    },
    dispose: () => disposables.dispose(),
  };
}
