import * as vscode from 'vscode';
import type { ClusterService } from '../cluster/service';
import { createDisposables } from '../common/emitter';
import { goesOn } from '../protocol/runSnapshot';
import type { RunSource } from './runSource';

/** One item in the status bar: the cluster's state, and how far the run is while one is going. */
export function registerStatusBar(cluster: ClusterService, runs: RunSource): vscode.Disposable {
  const disposables = createDisposables();
  const item = disposables.add(vscode.window.createStatusBarItem('shardboard.cluster', vscode.StatusBarAlignment.Left));
  item.name = 'Ray cluster';
  const draw = (): void => {
    const { text, tooltip, command } = statusOf(cluster, runs);
    // Setting a property redraws the bar, even with what it already has.
    if (item.text !== text) {
      Object.assign(item, { text, tooltip, command });
    }
  };
  disposables.add(cluster.onDidChange(draw));
  disposables.add(runs.onDidChange(draw));
  draw();
  item.show();
  return disposables;
}

function statusOf(cluster: ClusterService, runs: RunSource): { text: string; tooltip: string; command: string } {
  const latest = runs.latest();
  const run = latest === undefined ? undefined : runs.snapshot(latest);
  if (run && goesOn(run.status) && run.expected > 0) {
    const percent = Math.floor((100 * run.answered) / run.expected);
    return {
      text: `$(sync~spin) ${run.benchmark} ${percent} %`,
      tooltip: `${run.answered} of ${run.expected} answers. Show the results`,
      command: 'shardboard.showResults',
    };
  }
  const state = cluster.state();
  switch (state.kind) {
    case 'running':
      return {
        text: '$(pass) Ray: on',
        tooltip: `Ray ${state.rayVersion} at ${state.dashboardUrl}, ${state.origin === 'started' ? 'started here' : 'joined'}`,
        command: 'shardboard.showCluster',
      };
    case 'starting':
      return { text: '$(sync~spin) Ray: starting', tooltip: state.stage, command: 'shardboard.showCluster' };
    case 'stopping':
      return { text: '$(sync~spin) Ray: stopping', tooltip: 'Ray is stopping', command: 'shardboard.showCluster' };
    case 'none':
      return {
        text: '$(circle-outline) Ray: off',
        tooltip: state.message ?? 'No Ray cluster is running here. Show the cluster view',
        command: 'shardboard.showCluster',
      };
  }
}
