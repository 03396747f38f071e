import * as v from 'valibot';
import * as vscode from 'vscode';
import { createDisposables, type Event } from '../common/emitter';
import { runTitle } from '../results-page/words';
import { attachResultsPage, type OnPageAction } from './resultsPageHost';
import type { RunSource } from './runSource';

/** Also in package.json, as the activation event that brings the panels back after a window reload. */
const VIEW_TYPE = 'shardboard.resultsPanel';

/** What the page keeps with VS Code. The rest of it is the page's own affair. */
const keptState = v.object({ runId: v.string() });

/** The results panels in the editor area, one a run. */
export interface ResultsPanels extends vscode.Disposable {
  /** Opens the panel of a run, or brings it to the front. */
  show(runId: string): void;
  /** The run of the panel that has the focus, if one has. */
  active(): string | undefined;
}

/** Opens results panels, and restores those that were open before a window reload. */
export function registerResultsPanels(
  context: vscode.ExtensionContext,
  runs: RunSource,
  onAction: OnPageAction,
): ResultsPanels {
  const disposables = createDisposables();
  const panels = new Map<string, vscode.WebviewPanel>();

  function attach(panel: vscode.WebviewPanel, runId: string): void {
    panels.set(runId, panel);
    const onDidChange: Event<void> = (listener) =>
      runs.onDidChange((id) => {
        if (id === runId) {
          listener();
        }
      });
    const attached = createDisposables();
    // After a window reload the run may be read from disk later than its panel is restored.
    attached.add(onDidChange(() => nameAfterRun(panel, runId, runs)));
    nameAfterRun(panel, runId, runs);
    attached.add(
      attachResultsPage(panel.webview, {
        extensionUri: context.extensionUri,
        place: 'panel',
        isVisible: () => panel.visible,
        onDidChangeVisibility: (listener) => panel.onDidChangeViewState(listener),
        snapshot: () => runs.snapshot(runId),
        onDidChange,
        onAction,
      }),
    );
    let looking: vscode.Disposable | undefined;
    const look = (): void => {
      looking?.dispose();
      looking = panel.visible ? runs.look(runId) : undefined;
    };
    attached.add(panel.onDidChangeViewState(look));
    attached.add({ dispose: () => looking?.dispose() });
    look();
    panel.onDidDispose(() => {
      attached.dispose();
      panels.delete(runId);
    });
  }

  disposables.add(
    vscode.window.registerWebviewPanelSerializer(VIEW_TYPE, {
      async deserializeWebviewPanel(panel, state: unknown) {
        const kept = v.safeParse(keptState, state);
        // A panel that never drew a run, or one whose run has been opened again meanwhile, has nothing to show.
        if (!kept.success || panels.has(kept.output.runId)) {
          panel.dispose();
        } else {
          attach(panel, kept.output.runId);
        }
      },
    }),
  );

  return {
    show(runId) {
      const open = panels.get(runId);
      if (open) {
        open.reveal();
      } else {
        attach(vscode.window.createWebviewPanel(VIEW_TYPE, 'Results', vscode.ViewColumn.Active), runId);
      }
    },
    active: () => [...panels].find(([, panel]) => panel.active)?.[0],
    dispose: () => disposables.dispose(),
  };
}

function nameAfterRun(panel: vscode.WebviewPanel, runId: string, runs: RunSource): void {
  const run = runs.snapshot(runId);
  const title = run === undefined ? undefined : runTitle(run);
  if (title !== undefined && title !== panel.title) {
    panel.title = title;
  }
}
