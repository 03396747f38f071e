import * as vscode from 'vscode';
import type { ClusterService } from '../cluster/service';
import { createDisposables } from '../common/emitter';
import type { RayNode } from '../ray/client';
import { statusWords } from '../results-page/words';
import type { RunSource } from './runSource';

type Entry =
  | { readonly kind: 'cluster' }
  | { readonly kind: 'nodes' }
  | { readonly kind: 'node'; readonly node: RayNode }
  | { readonly kind: 'runs' }
  | { readonly kind: 'run'; readonly id: string };

/** The Cluster tree: the cluster, its nodes, and the runs that this window sent to it. */
export function registerClusterView(cluster: ClusterService, runs: RunSource): vscode.Disposable {
  const disposables = createDisposables();
  const changed = disposables.add(new vscode.EventEmitter<undefined>());
  const provider: vscode.TreeDataProvider<Entry> = {
    onDidChangeTreeData: changed.event,
    getChildren: (entry) => children(cluster, runs, entry),
    getTreeItem: (entry) => treeItem(cluster, runs, entry),
  };
  disposables.add(vscode.window.registerTreeDataProvider('shardboard.cluster', provider));
  disposables.add(cluster.onDidChange(() => changed.fire(undefined)));
  // A run changes four times a second; the tree names only its state, and is drawn anew when that changes.
  let drawn = '';
  disposables.add(
    runs.onDidChange(() => {
      const now = runs
        .all()
        .map((id) => {
          const run = runs.snapshot(id);
          return run ? `${id} ${statusWords(run)}` : id;
        })
        .join('\n');
      if (now !== drawn) {
        drawn = now;
        changed.fire(undefined);
      }
    }),
  );
  return disposables;
}

function children(cluster: ClusterService, runs: RunSource, entry: Entry | undefined): Entry[] {
  const state = cluster.state();
  switch (entry?.kind) {
    case undefined:
      // Nothing at all lets VS Code show the view's welcome, with its buttons.
      return state.kind === 'none' ? [] : [{ kind: 'cluster' }];
    case 'cluster':
      if (state.kind !== 'running') {
        return [];
      }
      return runs.on(state.sessionName).length > 0 ? [{ kind: 'nodes' }, { kind: 'runs' }] : [{ kind: 'nodes' }];
    case 'nodes':
      return state.kind === 'running' ? state.nodes.map((node) => ({ kind: 'node', node })) : [];
    case 'runs':
      return state.kind === 'running'
        ? runs
            .on(state.sessionName)
            .toReversed()
            .map((id) => ({ kind: 'run', id }))
        : [];
    default:
      return [];
  }
}

function treeItem(cluster: ClusterService, runs: RunSource, entry: Entry): vscode.TreeItem {
  const { Expanded, None } = vscode.TreeItemCollapsibleState;
  switch (entry.kind) {
    case 'cluster':
      return clusterItem(cluster);
    case 'nodes':
      return new vscode.TreeItem('Nodes', Expanded);
    case 'node': {
      const item = new vscode.TreeItem(entry.node.ip, None);
      item.description = `${entry.node.isHead ? 'head, ' : ''}${entry.node.cpus} CPUs, ${entry.node.state.toLowerCase()}`;
      item.iconPath = new vscode.ThemeIcon('server');
      return item;
    }
    case 'runs':
      return new vscode.TreeItem('Runs', Expanded);
    case 'run': {
      const run = runs.snapshot(entry.id);
      const item = new vscode.TreeItem(run?.benchmark ?? entry.id, None);
      item.description = run ? `${run.modelId}, ${statusWords(run).toLowerCase()}, ${clockTime(run.submittedAt)}` : '';
      item.tooltip = entry.id;
      item.iconPath = new vscode.ThemeIcon('graph');
      item.command = { command: 'shardboard.showResults', title: 'Show results', arguments: [entry.id] };
      return item;
    }
  }
}

/** The time of day: what tells apart runs of the same benchmark. */
function clockTime(at: number): string {
  return new Date(at).toLocaleTimeString(undefined, { timeStyle: 'short' });
}

function clusterItem(cluster: ClusterService): vscode.TreeItem {
  const state = cluster.state();
  const { Expanded, None } = vscode.TreeItemCollapsibleState;
  switch (state.kind) {
    case 'running': {
      const started = state.origin === 'started';
      const item = new vscode.TreeItem(started ? 'Local Ray cluster' : 'Joined Ray cluster', Expanded);
      item.description = `${new URL(state.dashboardUrl).host}, Ray ${state.rayVersion}`;
      item.tooltip = `Dashboard: ${state.dashboardUrl}\nSession: ${state.sessionName}`;
      item.iconPath = new vscode.ThemeIcon('pass', new vscode.ThemeColor('testing.iconPassed'));
      item.contextValue = started ? 'startedCluster' : 'joinedCluster';
      return item;
    }
    case 'starting': {
      const item = new vscode.TreeItem('Ray is starting', None);
      item.description = state.stage;
      item.iconPath = new vscode.ThemeIcon('loading~spin');
      return item;
    }
    case 'stopping': {
      const item = new vscode.TreeItem('Ray is stopping', None);
      item.iconPath = new vscode.ThemeIcon('loading~spin');
      return item;
    }
    case 'none':
      return new vscode.TreeItem('No Ray cluster', None);
  }
}
