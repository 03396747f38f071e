import * as vscode from 'vscode';
import type { ClusterResources } from '../cluster/resources';

const WHEN_UNUSED = 'shardboard.cluster.whenUnused';

/** What a new cluster may use of this machine, as the settings say. */
export function clusterResources(): ClusterResources {
  const settings = vscode.workspace.getConfiguration('shardboard.cluster');
  return {
    numCpus: settings.get<number | null>('numCpus', null),
    numGpus: settings.get<number | null>('numGpus', null),
    memory: settings.get<number | null>('memory', null),
    objectStoreMemory: settings.get<number | null>('objectStoreMemory', null),
  };
}

/** Whether a cluster that nobody uses is kept after the last window is gone. */
export function isClusterKept(): boolean {
  return vscode.workspace.getConfiguration().get<string>(WHEN_UNUSED) === 'keep';
}

/** Calls back when the answer of `isClusterKept` may be another one. */
export function onDidChangeKept(listener: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(WHEN_UNUSED)) {
      listener();
    }
  });
}
