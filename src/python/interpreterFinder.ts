import * as vscode from 'vscode';
import { createDisposables, createEmitter, type Disposable, type Event } from '../common/emitter';
import { chooseInterpreter, type FoundInterpreter } from './chooseInterpreter';
import { createPythonExtensions } from './pythonExtensions';

/** Finds the interpreter for a folder of the workspace. */
export interface InterpreterFinder extends Disposable {
  /** Fires when another interpreter may be chosen, or when something was installed from here. */
  readonly onDidChange: Event<void>;
  /**
   * @throws UserError when there is none, or when the setting names a file that cannot be run
   */
  find(folder: vscode.WorkspaceFolder | undefined): Promise<FoundInterpreter>;
  /** Something was installed from here. */
  installed(): void;
}

/** Makes the finder. No other extension is activated before the first `find`. */
export function createInterpreterFinder(log: (message: string) => void): InterpreterFinder {
  const disposables = createDisposables();
  const changed = disposables.add(createEmitter<void>());
  const extensions = disposables.add(createPythonExtensions((id) => vscode.extensions.getExtension(id)));
  disposables.add(extensions.onDidChange(() => changed.fire()));
  disposables.add(vscode.extensions.onDidChange(() => changed.fire()));
  disposables.add(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('shardboard.pythonPath')) {
        changed.fire();
      }
    }),
  );
  /** What was told last for each folder: a line in the log only when it is news. */
  const told = new Map<string | undefined, string>();

  return {
    onDidChange: changed.event,
    async find(folder) {
      const configured = vscode.workspace.getConfiguration('shardboard', folder).get<string>('pythonPath', '').trim();
      const found = await chooseInterpreter({
        setting: resolveVariables(configured, folder),
        extensions: () => extensions.ask(folder?.uri),
        folder: folder?.uri.scheme === 'file' ? folder.uri.fsPath : undefined,
      });
      const line = [`Python: ${found.path}, from ${found.from}`, ...found.notes].join('. ');
      if (told.get(folder?.uri.toString()) !== line) {
        told.set(folder?.uri.toString(), line);
        log(line);
      }
      return found;
    },
    installed: () => changed.fire(),
    dispose: () => disposables.dispose(),
  };
}

/** Puts the workspace's folder in place of `${workspaceFolder}`. */
export function resolveVariables(value: string, folder: vscode.WorkspaceFolder | undefined): string {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code's own spelling of a variable in a setting.
  return value.replaceAll('${workspaceFolder}', folder?.uri.fsPath ?? '');
}
