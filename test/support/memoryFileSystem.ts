import * as vscode from 'vscode';

/** Registers a file system that is nowhere on disk, with these files by their paths. It offers no search and cannot be written. */
export function registerMemoryFileSystem(scheme: string, files: Readonly<Record<string, string>>): vscode.Disposable {
  const nothing = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  const below = ({ path }: vscode.Uri): string[] => {
    const folder = path.replace(/\/?$/, '/');
    return Object.keys(files).flatMap((file) => (file.startsWith(folder) ? [file.slice(folder.length)] : []));
  };
  const refuse = (uri: vscode.Uri): never => {
    throw vscode.FileSystemError.NoPermissions(uri);
  };
  return vscode.workspace.registerFileSystemProvider(
    scheme,
    {
      onDidChangeFile: nothing.event,
      watch: () => new vscode.Disposable(() => undefined),
      stat(uri) {
        const text = files[uri.path];
        if (text === undefined && below(uri).length === 0) {
          throw vscode.FileSystemError.FileNotFound(uri);
        }
        const type = text === undefined ? vscode.FileType.Directory : vscode.FileType.File;
        return { type, ctime: 0, mtime: 0, size: text?.length ?? 0 };
      },
      readDirectory(uri) {
        const entries = below(uri).map((path): [string, vscode.FileType] => {
          const [name = '', ...rest] = path.split('/');
          return [name, rest.length > 0 ? vscode.FileType.Directory : vscode.FileType.File];
        });
        return [...new Map(entries)];
      },
      readFile(uri) {
        const text = files[uri.path];
        if (text === undefined) {
          throw vscode.FileSystemError.FileNotFound(uri);
        }
        return new TextEncoder().encode(text);
      },
      createDirectory: refuse,
      writeFile: refuse,
      delete: refuse,
      rename: refuse,
    },
    { isReadonly: true },
  );
}
