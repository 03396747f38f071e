import { access, constants, readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { compareVersions } from './supportedVersions';

/** What a Python may be called, the best first. */
const PYTHONS = ['python3.13', 'python3.12', 'python3', 'python'];

/** Whether there is a file that may be run. */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Where a program stands on the PATH, the first place first. A folder that is not absolute would depend on where we are. */
export async function programsOnPath(name: string, path: string | undefined = process.env.PATH): Promise<string[]> {
  const found: string[] = [];
  for (const folder of new Set((path ?? '').split(delimiter).filter(isAbsolute))) {
    const program = join(folder, name);
    if (!isTrap(program) && (await isExecutable(program))) {
      found.push(program);
    }
  }
  return found;
}

/** The Pythons on the PATH, the best name first. They may be shims that do not run. */
export async function pythonsOnPath(path: string | undefined = process.env.PATH): Promise<string[]> {
  return (await Promise.all(PYTHONS.map((name) => programsOnPath(name, path)))).flat();
}

/** What else there may be on this machine to make an environment with: the versions of pyenv and uv. */
export async function installedPythons(home = homedir(), env: NodeJS.ProcessEnv = process.env): Promise<string[]> {
  const folders = [
    join(env.PYENV_ROOT ?? join(home, '.pyenv'), 'versions'),
    env.UV_PYTHON_INSTALL_DIR ?? join(env.XDG_DATA_HOME ?? join(home, '.local', 'share'), 'uv', 'python'),
  ];
  const found: string[] = [];
  for (const folder of folders) {
    const names = (await readdir(folder).catch(() => [])).sort((a, b) => compareVersions(versionIn(b), versionIn(a)));
    for (const name of names.filter((candidate) => /3\.1[23]/.test(candidate))) {
      const program = join(folder, name, 'bin', 'python3');
      if (await isExecutable(program)) {
        found.push(program);
      }
    }
  }
  return found;
}

/** pyenv's folders are called 3.12.1, uv's cpython-3.12.1-linux-x86_64-gnu. */
function versionIn(name: string): string {
  return /\d+\.\d+\.\d+/.exec(name)?.[0] ?? '';
}

/** Without its developer tools, macOS answers these with a dialog that offers to install them. */
function isTrap(path: string): boolean {
  return process.platform === 'darwin' && /^\/usr\/bin\/python/.test(path);
}
