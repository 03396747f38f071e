import * as vscode from 'vscode';
import { type Attention, attentionOf } from '../cluster/pacing';
import type { ClusterService } from '../cluster/service';
import { createDisposables } from '../common/emitter';
import type { ClusterView } from './clusterView';
import type { RunSource } from './runSource';

/**
 * Tells the cluster's service how closely somebody looks, so that it asks no more than that. When there is no cluster,
 * whoever comes back to the window sees whether another one has started it meanwhile.
 */
export function followAttention(
  cluster: ClusterService,
  view: Pick<ClusterView, 'isVisible' | 'onDidChangeVisibility'>,
  runs: RunSource,
  onError: (error: unknown) => void,
): vscode.Disposable {
  const disposables = createDisposables();
  let told: Attention = 'none';
  const tell = (): void => {
    const attention = attentionOf({
      isTreeVisible: view.isVisible(),
      isWindowFocused: vscode.window.state.focused,
      hasRun: runs.active().length > 0,
    });
    if (attention !== told) {
      const isBack = told === 'none';
      told = attention;
      cluster.attend(attention);
      if (isBack && cluster.state().kind === 'none') {
        cluster.refresh().catch(onError);
      }
    }
  };
  disposables.add(view.onDidChangeVisibility(tell));
  disposables.add(vscode.window.onDidChangeWindowState(tell));
  disposables.add(runs.onDidChange(tell));
  tell();
  return disposables;
}
