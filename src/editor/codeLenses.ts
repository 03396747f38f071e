import * as vscode from 'vscode';
import { createDisposables, type Event } from '../common/emitter';
import { createThrottle } from '../common/throttle';
import type { ServerFile } from '../gym/serverFile';
import { describeLenses, type LensDescription, type RayState } from './lensDescriptions';
import { toRange } from './ranges';
import { createTypingRest } from './typingRest';
import { canBeRun, uriOf } from './workspaceSourceFiles';

export interface CodeLensDependencies {
  /** What open documents hold. It fires when what it answers has changed without the document itself. */
  readonly readings: {
    read(document: vscode.TextDocument): ServerFile | undefined | Promise<ServerFile | undefined>;
    readonly onDidChange: Event<unknown>;
  };
  readonly cluster: { rayState(): RayState; readonly onDidChange: Event<unknown> };
  /** Hears why a file could not be read, once for each different reason. */
  readonly onError: (error: unknown) => void;
}

const SETTING = 'shardboard.codeLens.enabled';

/** How long nobody must type before a text that does not parse is taken for what is meant. */
const REST_MS = 1_000;

/** Faster than this nobody reads. */
const REFRESH_MS = 200;

/** Shows on Gym server classes what they say about Ray. Nothing is loaded or parsed before a file with a server is open. */
export function registerCodeLenses({ readings, cluster, onError }: CodeLensDependencies): vscode.Disposable {
  const disposables = createDisposables();
  const changed = disposables.add(new vscode.EventEmitter<void>());
  const refresh = disposables.add(createThrottle(() => changed.fire(), REFRESH_MS));
  const typing = disposables.add(createTypingRest<vscode.TextDocument>(REST_MS));
  let lastFailure: string | undefined;

  const toLenses = (file: ServerFile | undefined, document: vscode.TextDocument): vscode.CodeLens[] =>
    file
      ? describeLenses(file, cluster.rayState())
          .filter(({ action }) => canBeRun(document) || !(action && 'withFile' in action))
          .map((lens) => toCodeLens(lens, document.uri))
      : [];

  /**
   * While a text does not parse because somebody types in it, nothing is answered: until then VS Code goes on showing the
   * lenses of before, where they have moved to. When the typing rests, the newest text counts.
   */
  const settled = async (
    file: ServerFile | undefined,
    document: vscode.TextDocument,
    token: vscode.CancellationToken,
  ): Promise<vscode.CodeLens[]> => {
    let latest = file;
    for (;;) {
      const rest = latest?.parses === false ? typing.whenAtRest(document, token) : undefined;
      if (!rest) {
        return toLenses(latest, document);
      }
      await rest;
      if (token.isCancellationRequested || document.isClosed) {
        return [];
      }
      latest = await readings.read(document);
    }
  };

  const explain = (error: unknown): vscode.CodeLens[] => {
    if (String(error) !== lastFailure) {
      lastFailure = String(error);
      onError(error);
    }
    return [];
  };

  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    provideCodeLenses(document, token) {
      if (!vscode.workspace.getConfiguration(undefined, document).get(SETTING, true)) {
        return [];
      }
      try {
        const reading = readings.read(document);
        if (reading instanceof Promise) {
          return reading.then((file) => settled(file, document, token)).catch(explain);
        }
        // At once where it can be: a promise, however short, lets VS Code show a frame without lenses.
        return reading?.parses === false
          ? settled(reading, document, token).catch(explain)
          : toLenses(reading, document);
      } catch (error) {
        return explain(error);
      }
    },
  };

  // A cluster tells of more than its state, as often as it likes; only another state makes other lenses.
  let shown = cluster.rayState();
  disposables.add(
    cluster.onDidChange(() => {
      if (cluster.rayState() !== shown) {
        shown = cluster.rayState();
        refresh.request();
      }
    }),
  );
  disposables.add(readings.onDidChange(() => refresh.request()));
  disposables.add(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(SETTING)) {
        refresh.request();
      }
    }),
  );
  disposables.add(
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (document.languageId === 'python' && contentChanges.length > 0) {
        typing.changed(document);
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
    return 'withFile' in action ? { command: action.command, arguments: [uri] } : { command: action.command };
  }
  if ('declareIn' in action) {
    return { command: 'shardboard.addRayEnabled', arguments: [uri.toString(), action.declareIn, action.asClassVar] };
  }
  const target = action.file === undefined ? uri : uriOf(action.file);
  return { command: 'vscode.open', arguments: [target, { selection: toRange(action.reveal) }] };
}
