import * as vscode from 'vscode';
import { createDisposables } from '../common/emitter';
import { mayBeConfiguration, readConfiguration } from '../gym/configuration';
import type { ConfigurationIndex } from '../gym/configurationIndex';
import type { RunningConfigurations } from '../gym/runningConfigurations';
import type { GymVersion } from '../gym/verdict';
import { type ConfigurationLens, describeConfigurationLenses } from './configurationLensDescriptions';
import { toRange } from './ranges';
import { canBeRun, pathOf, uriOf } from './workspaceSourceFiles';

export interface ConfigurationLensDependencies {
  readonly configurations: ConfigurationIndex;
  /** Of the Gym that runs a file. */
  readonly gymVersion: (path: string) => Promise<GymVersion>;
  readonly running: RunningConfigurations;
  /** Hears why a configuration could not be told. */
  readonly onError: (error: unknown) => void;
}

const SETTING = 'shardboard.codeLens.enabled';

/** Shows on Gym configurations whether they start Ray. A YAML file that does not speak of Gym is not parsed. */
export function registerConfigurationLenses({
  configurations,
  gymVersion,
  running,
  onError,
}: ConfigurationLensDependencies): vscode.Disposable {
  const disposables = createDisposables();
  const changed = disposables.add(new vscode.EventEmitter<void>());
  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    async provideCodeLenses(document) {
      const text = document.getText();
      if (!vscode.workspace.getConfiguration(undefined, document).get(SETTING, true) || !mayBeConfiguration(text)) {
        return [];
      }
      try {
        const configuration = await readConfiguration(text);
        if (!configuration) {
          return [];
        }
        const path = pathOf(document.uri);
        const [verdict, version] = await Promise.all([configurations.verdict(path, configuration), gymVersion(path)]);
        const run = !canBeRun(document) ? 'not possible' : running.running().includes(path) ? 'running' : 'ended';
        return describeConfigurationLenses(configuration, verdict, version, run).map((lens) =>
          toCodeLens(lens, document),
        );
      } catch (error) {
        onError(error);
        return [];
      }
    },
  };
  disposables.add(configurations.onDidChange(() => changed.fire()));
  disposables.add(running.onDidChange(() => changed.fire()));
  disposables.add(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(SETTING)) {
        changed.fire();
      }
    }),
  );
  disposables.add(vscode.languages.registerCodeLensProvider({ language: 'yaml' }, provider));
  return disposables;
}

function toCodeLens(
  { range, title, tooltip, action }: ConfigurationLens,
  { uri }: vscode.TextDocument,
): vscode.CodeLens {
  return new vscode.CodeLens(toRange(range), { title, tooltip, ...toCommand(action, uri) });
}

function toCommand(action: ConfigurationLens['action'], uri: vscode.Uri): { command: string; arguments?: unknown[] } {
  if (!action) {
    // VS Code shows a lens with an empty command as plain text.
    return { command: '' };
  }
  if ('command' in action) {
    return { command: action.command, arguments: [uri] };
  }
  return 'path' in action
    ? { command: 'vscode.open', arguments: [uriOf(action.path), { selection: toRange(action.reveal) }] }
    : { command: 'shardboard.goToServer', arguments: [uri, action.instances] };
}
