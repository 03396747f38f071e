import * as vscode from 'vscode';
import type { ClusterService } from '../cluster/service';
import { createDisposables, type Event } from '../common/emitter';
import { statusWords } from '../results-page/words';
import { type ClusterLine, changedLines, clusterLines, linesById } from './clusterTree';
import type { RunSource } from './runSource';

export interface ClusterView extends vscode.Disposable {
  /** What the tree shows, for those who ask for it without looking. Its elements are the ids of its lines. */
  readonly provider: vscode.TreeDataProvider<string>;
  isVisible(): boolean;
  readonly onDidChangeVisibility: Event<unknown>;
}

/** The Cluster tree: the cluster, its nodes, and its jobs, of this window and of others. */
export function registerClusterView(cluster: ClusterService, runs: RunSource): ClusterView {
  const disposables = createDisposables();
  const changed = disposables.add(new vscode.EventEmitter<string[] | undefined>());
  const current = (): readonly ClusterLine[] =>
    clusterLines({
      state: cluster.state(),
      activity: cluster.activity(),
      runOf: (id) => (runs.all().includes(id) ? runs.snapshot(id) : undefined),
      now: Date.now(),
    });
  let lines = current();
  let byId = linesById(lines);

  /** Only what has changed, so that nothing flickers and nobody loses their place. */
  const draw = (): void => {
    const next = current();
    const ids = changedLines(lines, next);
    lines = next;
    byId = linesById(next);
    if (ids === undefined || ids.length > 0) {
      changed.fire(ids && [...ids]);
    }
  };

  const provider: vscode.TreeDataProvider<string> = {
    onDidChangeTreeData: changed.event,
    getChildren: (id) => (id === undefined ? lines : (byId.get(id)?.children ?? [])).map((line) => line.id),
    getTreeItem: (id) => toTreeItem(id, byId.get(id)),
  };
  const view = disposables.add(
    vscode.window.createTreeView('shardboard.cluster', { treeDataProvider: provider, showCollapseAll: true }),
  );
  disposables.add(cluster.onDidChange(draw));
  disposables.add(cluster.onDidLook(draw));

  // A run changes four times a second. When what is said of it changes, Ray has something to say of its job too.
  let said = '';
  disposables.add(
    runs.onDidChange(() => {
      const now = runs
        .all()
        .map((id) => {
          const run = runs.snapshot(id);
          return run ? `${id} ${statusWords(run)}` : id;
        })
        .join('\n');
      if (now !== said) {
        said = now;
        draw();
        if (view.visible) {
          cluster.refresh().catch(() => undefined);
        }
      }
    }),
  );

  return {
    provider,
    isVisible: () => view.visible,
    onDidChangeVisibility: view.onDidChangeVisibility,
    dispose: () => disposables.dispose(),
  };
}

function toTreeItem(id: string, line: ClusterLine | undefined): vscode.TreeItem {
  const { Expanded, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(line?.label ?? '', line && line.children.length > 0 ? Expanded : None);
  item.id = id;
  if (line) {
    item.description = line.description;
    item.tooltip = line.tooltip;
    item.contextValue = line.context;
    item.accessibilityInformation = { label: [line.label, line.description].filter(Boolean).join(', ') };
  }
  if (line?.icon) {
    const { id: icon, color } = line.icon;
    item.iconPath = new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
  }
  if (line?.run !== undefined) {
    item.command = { command: 'shardboard.showResults', title: 'Show results', arguments: [line.run] };
  }
  return item;
}
