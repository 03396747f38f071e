import * as vscode from 'vscode';
import { createDisposables, type Event } from '../common/emitter';
import type { ServerFile } from '../gym/serverFile';
import { createServerReadings } from '../gym/serverReadings';
import type { PythonParser } from '../python/parser';
import type { SourceRange } from '../python/syntax';
import { describeLenses, type LensDescription, type RayState } from './lensDescriptions';

export interface CodeLensDependencies {
  readonly parser: PythonParser;
  readonly cluster: { rayState(): RayState; readonly onDidChange: Event<unknown> };
  /** Hears why a file could not be read, once for each different reason. */
  readonly onError: (error: unknown) => void;
}

const SETTING = 'shardboard.codeLens.enabled';

/** Shows on Gym server classes what they say about Ray. Nothing is loaded or parsed before a file with a server is open. */
export function registerCodeLenses({ parser, cluster, onError }: CodeLensDependencies): vscode.Disposable {
  const disposables = createDisposables();
  const changed = disposables.add(new vscode.EventEmitter<void>());
  const readings = createServerReadings(parser);
  let lastFailure: string | undefined;

  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    provideCodeLenses(document) {
      if (!vscode.workspace.getConfiguration(undefined, document).get(SETTING, true)) {
        return [];
      }
      const toLenses = (file: ServerFile | undefined): vscode.CodeLens[] =>
        file ? describeLenses(file, cluster.rayState()).map((lens) => toCodeLens(lens, document.uri)) : [];
      const reading = readings.read(document);
      return reading instanceof Promise ? reading.then(toLenses).catch(explain) : toLenses(reading);
    },
  };

  const explain = (error: unknown): vscode.CodeLens[] => {
    if (String(error) !== lastFailure) {
      lastFailure = String(error);
      onError(error);
    }
    return [];
  };

  // A cluster tells of more than its state, as often as it likes; only another state makes other lenses.
  let shown = cluster.rayState();
  disposables.add(
    cluster.onDidChange(() => {
      if (cluster.rayState() !== shown) {
        shown = cluster.rayState();
        changed.fire();
      }
    }),
  );
  disposables.add(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(SETTING)) {
        changed.fire();
      }
    }),
  );
  disposables.add(vscode.languages.registerCodeLensProvider({ language: 'python' }, provider));
  return disposables;
}

function toCodeLens(lens: LensDescription, uri: vscode.Uri): vscode.CodeLens {
  return new vscode.CodeLens(toRange(lens.range), {
    title: lens.title,
    ...(lens.tooltip ? { tooltip: lens.tooltip } : {}),
    ...toCommand(lens, uri),
  });
}

function toCommand({ action }: LensDescription, uri: vscode.Uri): { command: string; arguments?: unknown[] } {
  if (!action) {
    // VS Code shows a lens with an empty command as plain text.
    return { command: '' };
  }
  if ('command' in action) {
    return { command: action.command };
  }
  return { command: 'vscode.open', arguments: [uri, { selection: toRange(action.reveal) }] };
}

function toRange(range: SourceRange): vscode.Range {
  return new vscode.Range(range.startLine, range.startColumn, range.endLine, range.endColumn);
}
