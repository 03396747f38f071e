import * as vscode from 'vscode';
import { createDisposables, type Event } from '../common/emitter';
import { toRange } from '../editor/ranges';
import { shownPath, uriOf, workspaceRoots } from '../editor/workspaceSourceFiles';
import type { ConfigurationIndex } from '../gym/configurationIndex';
import type { RunningConfigurations } from '../gym/runningConfigurations';
import { FLAG_WORDS, type ServerFlag } from '../gym/serverFlag';
import type { ServerIndex } from '../gym/serverIndex';
import type { GymVersion } from '../gym/verdict';
import {
  configurationItem,
  configurationNodes,
  configuredServerItem,
  configuredServerNodes,
  countFlags,
  countsInWords,
  groupItem,
  groupNodes,
  namingNodes,
  type ServerEntry,
  type ServersItem,
  type ServersNode,
  serverEntries,
  serverItem,
  serverNodes,
} from './serversTree';

const VIEW = 'shardboard.servers';

export interface ServersViewDependencies {
  readonly servers: Pick<ServerIndex, 'files' | 'build' | 'isComplete'> & { readonly onDidChange: Event<void> };
  readonly configurations: ConfigurationIndex;
  /** Of the Gym that runs a file. */
  readonly gymVersion: (path: string) => Promise<GymVersion>;
  readonly running: RunningConfigurations;
  /** Hears why the workspace could not be looked through. */
  readonly onError: (error: unknown) => void;
}

export interface ServersView extends vscode.Disposable {
  /** Shows only servers with this flag; all when undefined. */
  filter(flag: ServerFlag | undefined): void;
  counts(): Readonly<Record<ServerFlag, number>>;
  /** What the tree shows, for those who ask for it without looking. */
  readonly provider: vscode.TreeDataProvider<ServersNode>;
}

/** The nodes that this view made: a menu hands them to its command, and so can anybody hand it anything. */
const made = new WeakSet<object>();

/** Whether a command was given a node of this view. */
export function isServersNode(value: unknown): value is ServersNode {
  return typeof value === 'object' && value !== null && made.has(value);
}

/** The Servers tree. It looks through the workspace when it is first shown, not before. */
export function registerServersView({
  servers,
  configurations,
  gymVersion,
  running,
  onError,
}: ServersViewDependencies): ServersView {
  const disposables = createDisposables();
  const changed = disposables.add(new vscode.EventEmitter<undefined>());
  let filter: ServerFlag | undefined;
  let isAskedFor = false;
  const entries = (): ServerEntry[] =>
    serverEntries(servers.files(), configurations.configurations(), workspaceRoots());

  /** Looks through the workspace, once, with the bar of the view running meanwhile. */
  const build = (): void => {
    if (isAskedFor) {
      return;
    }
    isAskedFor = true;
    void vscode.window.withProgress({ location: { viewId: VIEW } }, async () => {
      // Not asked for again when it fails: the tree would ask without end. "Refresh" does.
      await Promise.all([servers.build(), configurations.build()]).catch(onError);
      changed.fire(undefined);
    });
  };

  const provider: vscode.TreeDataProvider<ServersNode> = {
    onDidChangeTreeData: changed.event,
    async getChildren(node) {
      switch (node?.type) {
        case undefined: {
          if (workspaceRoots().length > 0) {
            build();
          }
          const all = entries();
          tell(all);
          return groupNodes(all, configurations.configurations(), filter);
        }
        case 'group':
          return node.group === 'configurations'
            ? configurationNodes(configurations.configurations())
            : serverNodes(entries(), node.group, filter);
        case 'server':
          return namingNodes(node.entry.path, await configurations.naming(node.entry.path));
        case 'configuration':
          return configuredServerNodes(node.id, await configurations.verdict(node.path, node.configuration));
        case 'configuredServer':
          return [];
      }
    },
    async getTreeItem(node) {
      made.add(node);
      return toTreeItem(node, await itemOf(node));
    },
  };

  const itemOf = async (node: ServersNode): Promise<ServersItem> => {
    switch (node.type) {
      case 'group':
        return groupItem(node);
      case 'server':
        return serverItem(node, folderName(node.entry.path));
      case 'configuration': {
        const [verdict, version] = await Promise.all([
          configurations.verdict(node.path, node.configuration),
          gymVersion(node.path),
        ]);
        const within = shownPath(node.path);
        const folder = within.slice(0, Math.max(0, within.lastIndexOf('/')));
        return configurationItem(node, verdict, version, folder, running.stateOf(node.path));
      }
      case 'configuredServer':
        return configuredServerItem(node);
    }
  };

  const view = disposables.add(
    vscode.window.createTreeView(VIEW, { treeDataProvider: provider, showCollapseAll: true }),
  );

  const tell = (all: readonly ServerEntry[]): void => {
    view.description = countsInWords(all);
    view.message = filter ? `Shown: ${FLAG_WORDS[filter]} (${countFlags(all)[filter]} of ${all.length} servers)` : '';
    const isComplete = servers.isComplete() && configurations.isComplete();
    const isEmpty = all.length === 0 && configurations.configurations().size === 0;
    setContext('serversState', !isEmpty ? 'some' : isComplete ? 'none' : 'building');
  };

  disposables.add(servers.onDidChange(() => changed.fire(undefined)));
  disposables.add(configurations.onDidChange(() => changed.fire(undefined)));
  disposables.add(running.onDidChange(() => changed.fire(undefined)));
  disposables.add(vscode.workspace.onDidChangeWorkspaceFolders(() => changed.fire(undefined)));

  return {
    provider,
    filter(flag) {
      filter = flag;
      setContext('serversFilter', flag ?? '');
      changed.fire(undefined);
    },
    counts: () => countFlags(entries()),
    dispose: () => disposables.dispose(),
  };
}

function toTreeItem(node: ServersNode, shown: ServersItem): vscode.TreeItem {
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(shown.label, shown.hasChildren ? Collapsed : None);
  item.id = node.id;
  item.description = shown.description;
  item.tooltip = shown.tooltip;
  item.contextValue = shown.context ?? node.type;
  item.accessibilityInformation = { label: shown.spoken };
  if (shown.icon) {
    const { id, color } = shown.icon;
    item.iconPath = new vscode.ThemeIcon(id, color === undefined ? undefined : new vscode.ThemeColor(color));
  }
  if (shown.opens) {
    item.command = {
      command: 'vscode.open',
      title: 'Open',
      arguments: [uriOf(shown.opens.path), { selection: toRange(shown.opens.range) }],
    };
  }
  return item;
}

/** The name of the folder of the workspace that a file is in, when there are several. */
function folderName(path: string): string | undefined {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.length > 1 ? vscode.workspace.getWorkspaceFolder(uriOf(path))?.name : undefined;
}

function setContext(key: string, value: string): void {
  void vscode.commands.executeCommand('setContext', `shardboard.${key}`, value);
}
