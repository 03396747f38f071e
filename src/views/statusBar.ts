import * as vscode from 'vscode';
import type { ClusterService } from '../cluster/service';
import { createDisposables } from '../common/emitter';
import { goesOn } from '../protocol/runSnapshot';
import { type ClusterStatus, clusterStatus } from './clusterStatus';
import type { RunSource } from './runSource';

/** While a cluster is silent, the time since then is counted in seconds at first. */
const MINUTE_MS = 60_000;

/** One item in the status bar: the cluster's state, and how far the run is while one is going. */
export function registerStatusBar(cluster: ClusterService, runs: RunSource): vscode.Disposable {
  const disposables = createDisposables();
  const item = disposables.add(vscode.window.createStatusBarItem('shardboard.cluster', vscode.StatusBarAlignment.Left));
  item.name = 'Ray cluster';
  let timer: NodeJS.Timeout | undefined;
  disposables.add({ dispose: () => clearTimeout(timer) });

  const draw = (): void => {
    const { command, ...status } = statusOf(cluster, runs);
    // Setting a property redraws the bar, even with what it already has.
    if (item.text !== status.text || item.tooltip !== status.tooltip) {
      item.text = status.text;
      item.tooltip = status.tooltip;
      item.accessibilityInformation = { label: status.spoken };
      item.command = command;
    }
    clearTimeout(timer);
    const state = cluster.state();
    if (state.kind === 'running' && state.silence) {
      timer = setTimeout(draw, Date.now() - state.silence.lastHeard < MINUTE_MS ? 1000 : MINUTE_MS / 2);
    }
  };
  disposables.add(cluster.onDidChange(draw));
  disposables.add(cluster.onDidLook(draw));
  disposables.add(runs.onDidChange(draw));
  draw();
  item.show();
  return disposables;
}

function statusOf(cluster: ClusterService, runs: RunSource): ClusterStatus & { command: string } {
  const latest = runs.latest();
  const run = latest === undefined ? undefined : runs.snapshot(latest);
  if (run && goesOn(run.status) && run.expected > 0) {
    const percent = Math.floor((100 * run.answered) / run.expected);
    return {
      text: `$(sync~spin) ${run.benchmark} ${percent} %`,
      tooltip: `${run.answered} of ${run.expected} answers. Show the results`,
      spoken: `Run of ${run.benchmark}, ${percent} per cent`,
      command: 'shardboard.showResults',
    };
  }
  return { ...clusterStatus(cluster.state(), cluster.activity(), Date.now()), command: 'shardboard.showCluster' };
}
