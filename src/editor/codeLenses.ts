import * as vscode from 'vscode';
import { createDisposables, type Event } from '../common/emitter';
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
      const toLenses = (file: Awaited<ReturnType<typeof readings.read>>): vscode.CodeLens[] =>
        file ? describeLenses(file, cluster.rayState()).map((lens) => toCodeLens(lens, document)) : [];
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

function toCodeLens(lens: LensDescription, document: vscode.TextDocument): vscode.CodeLens {
  const range = toRange(lens.range);
  return new vscode.CodeLens(range, {
    title: lens.title,
    ...(lens.tooltip ? { tooltip: lens.tooltip } : {}),
    ...toCommand(lens, document, range.start),
  });
}

/** An empty command is VS Code's way to show plain text. */
function toCommand(
  { action }: LensDescription,
  document: vscode.TextDocument,
  position: vscode.Position,
): { command: string; arguments?: unknown[] } {
  if (!action) {
    return { command: '' };
  }
  if ('command' in action) {
    return { command: action.command };
  }
  const target = new vscode.Location(document.uri, toRange(action.reveal));
  return { command: 'editor.action.goToLocations', arguments: [document.uri, position, [target], 'goto', ''] };
}

function toRange(range: SourceRange): vscode.Range {
  return new vscode.Range(range.startLine, range.startColumn, range.endLine, range.endColumn);
}
