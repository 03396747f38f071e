import * as vscode from 'vscode';
import { createDisposables } from '../common/emitter';
import { createThrottle } from '../common/throttle';
import type { ConfigurationFiles } from '../gym/configurationIndex';
import type { SourceFiles } from '../gym/serverIndex';

/** What is never a server or a configuration of the workspace's own. */
const LEFT_OUT = [
  'node_modules',
  '.git',
  '.venv',
  'venv',
  '__pycache__',
  'site-packages',
  '.tox',
  '.mypy_cache',
  '.ruff_cache',
  'shardboard-results',
  // Gym leaves a copy of the configuration of each run there.
  '.hydra',
];
const MOST_FILES = 20_000;
const TELL_EVERY_MS = 200;

/**
 * The path by which the indexes know a file; of what is neither in the workspace nor on disk the whole URI, so that a text which
 * was never saved is not taken for a file of that name.
 */
export function pathOf(uri: vscode.Uri): string {
  const known = uriOf(uri.path);
  return known.scheme === uri.scheme && known.authority === uri.authority ? uri.path : uri.toString();
}

/** The file of a path: in the folder of the workspace that it is in, wherever that is; else on disk. */
export function uriOf(path: string): vscode.Uri {
  if (/^[\w.+-]+:/.test(path)) {
    return vscode.Uri.parse(path);
  }
  const folder = vscode.workspace.workspaceFolders?.find(
    ({ uri }) => path === uri.path || path.startsWith(uri.path.endsWith('/') ? uri.path : `${uri.path}/`),
  );
  return folder ? folder.uri.with({ path }) : vscode.Uri.file(path);
}

/** The paths of the workspace's folders. */
export function workspaceRoots(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => pathOf(uri));
}

/** The folder of the workspace whose settings and environment count for a file: for one outside of all, those of the first. */
export function folderFor(path: string): vscode.WorkspaceFolder | undefined {
  return vscode.workspace.getWorkspaceFolder(uriOf(path)) ?? vscode.workspace.workspaceFolders?.[0];
}

/** A path as people see it: below its folder of the workspace, with the name of that when there are several. */
export function shownPath(path: string): string {
  return vscode.workspace.asRelativePath(uriOf(path));
}

/** Whether Gym can run a text: it knows only files on disk. */
export function canBeRun({ uri }: vscode.TextDocument): boolean {
  return uri.scheme === 'file';
}

/** The files of the workspace, through VS Code's file systems: also where nothing is on disk. */
export function createWorkspaceSourceFiles(): SourceFiles & ConfigurationFiles {
  return {
    async read(path) {
      try {
        return await vscode.workspace.fs.readFile(uriOf(path));
      } catch {
        return undefined;
      }
    },
    list: (folder, signal) => listFiles(folder, ['py'], signal),
    listConfigurations: (folder, signal) => listFiles(folder, ['yaml', 'yml'], signal),
  };
}

async function listFiles(folder: string, endings: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  const uri = uriOf(folder);
  if (uri.scheme !== 'file') {
    // Other file systems need not offer a search.
    return listByWalking(uri, endings, signal);
  }
  const cancelled = new vscode.CancellationTokenSource();
  const cancel = (): void => cancelled.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const found = await vscode.workspace.findFiles(
      new vscode.RelativePattern(uri, `**/*.{${endings.join(',')}}`),
      `**/{${LEFT_OUT.join(',')}}/**`,
      MOST_FILES,
      cancelled.token,
    );
    signal.throwIfAborted();
    return found.map(pathOf);
  } finally {
    signal.removeEventListener('abort', cancel);
    cancelled.dispose();
  }
}

async function listByWalking(root: vscode.Uri, endings: readonly string[], signal: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  const folders = [root];
  for (const folder of folders) {
    signal.throwIfAborted();
    const entries = await vscode.workspace.fs.readDirectory(folder).then(
      (read) => read,
      () => [],
    );
    for (const [name, type] of entries) {
      const uri = vscode.Uri.joinPath(folder, name);
      // A link to a folder may lead around in a circle.
      if (type === vscode.FileType.Directory && !LEFT_OUT.includes(name)) {
        folders.push(uri);
      } else if (type & vscode.FileType.File && endings.some((ending) => name.endsWith(`.${ending}`))) {
        found.push(pathOf(uri));
      }
    }
    if (found.length >= MOST_FILES) {
      break;
    }
  }
  return found;
}

/**
 * Tells which files that concern Gym have been written, made or deleted, in bundles.
 *
 * @param known the files that are known so far: when a folder goes, nobody names those in it.
 */
export function watchSourceFiles(
  known: () => Iterable<string>,
  onChange: (paths: readonly string[]) => void,
): vscode.Disposable {
  const disposables = createDisposables();
  const waiting = new Set<string>();
  const tell = disposables.add(
    createThrottle(() => {
      const paths = [...waiting];
      waiting.clear();
      onChange(paths);
    }, TELL_EVERY_MS),
  );
  const add = (path: string): void => {
    if (!path.split('/').some((part) => LEFT_OUT.includes(part))) {
      waiting.add(path);
      tell.request();
    }
  };

  const files = disposables.add(
    vscode.workspace.createFileSystemWatcher('**/{*.py,*.yaml,*.yml,requirements.txt,pyproject.toml}'),
  );
  const addUri = (uri: vscode.Uri): void => add(pathOf(uri));
  disposables.add(files.onDidCreate(addUri));
  disposables.add(files.onDidChange(addUri));
  disposables.add(files.onDidDelete(addUri));
  // Of a folder that goes, or comes under another name, only the folder is told.
  const folders = disposables.add(vscode.workspace.createFileSystemWatcher('**', true, true, false));
  const addBelow = (folder: vscode.Uri): void => {
    const prefix = `${pathOf(folder)}/`;
    for (const path of known()) {
      if (path.startsWith(prefix)) {
        add(path);
      }
    }
  };
  disposables.add(folders.onDidDelete(addBelow));
  disposables.add(
    vscode.workspace.onDidRenameFiles(({ files: renamed }) => {
      for (const { oldUri, newUri } of renamed) {
        addBelow(oldUri);
        void listFiles(pathOf(newUri), ['py', 'yaml', 'yml'], new AbortController().signal).then((paths) =>
          paths.forEach(add),
        );
      }
    }),
  );
  // Watchers see the workspace only; a file outside of it is known when it is open.
  disposables.add(
    vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      if (/\.(?:py|ya?ml)$/.test(uri.path) && !vscode.workspace.getWorkspaceFolder(uri)) {
        add(pathOf(uri));
      }
    }),
  );
  return disposables;
}
