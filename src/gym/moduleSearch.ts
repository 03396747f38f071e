import { posix } from 'node:path';
import type { ModuleReference } from './moduleFacts';

const { dirname, join } = posix;

/** The folders that hold Gym's kinds of servers, and what they share. Python finds them from the folder that they are in. */
const GYM_FOLDERS: ReadonlySet<string> = new Set([
  'resources_servers',
  'responses_api_agents',
  'responses_api_models',
  'environment_servers',
  'environments',
  'benchmarks',
  'nemo_gym',
]);

/** Where imports are looked for, in Python's order. Paths are absolute, with `/` between their parts. */
export interface SearchPath {
  /** The code of the workspace; it comes before what is installed. */
  readonly workspace: readonly string[];
  /** Where packages are installed: `site-packages`, and what its `.pth` files add. */
  readonly installed: readonly string[];
}

/** Whether there is a file of this path; undefined when nobody has looked yet. */
export type Probe = (path: string) => boolean | undefined;

/** What an import leads to. */
export type FoundModule =
  | {
      readonly kind: 'module';
      /** The file that is run; undefined for a package without `__init__.py`. */
      readonly file: string | undefined;
      /** Where its submodules are: none for a module that is no package. */
      readonly folders: readonly string[];
    }
  /** It is in none of the folders. */
  | { readonly kind: 'missing' }
  /** Whether it is there is not known before some file has been looked for: the probe was asked and did not know. */
  | { readonly kind: 'unknown' };

const MISSING: FoundModule = { kind: 'missing' };
const UNKNOWN: FoundModule = { kind: 'unknown' };

/**
 * The workspace's folders in which a file's absolute imports are looked for: its own, since Gym runs it as a script; that of
 * its server, since it may be a part of one; the Gym checkout around it; then the other ones and the roots.
 *
 * @param roots the folders of the workspace, and Gym checkouts in them
 */
export function workspaceFolders(file: string, roots: readonly string[]): string[] {
  const own = dirname(file);
  const above: string[] = [];
  for (let folder = own; folder !== dirname(folder); folder = dirname(folder)) {
    const parent = dirname(folder);
    if (isGymFolder(folder)) {
      above.push(parent);
    } else if (isGymFolder(parent) && folder !== own) {
      above.push(folder);
    }
  }
  const [around, others] = [
    roots.filter((root) => isInside(file, root)),
    roots.filter((root) => !isInside(file, root)),
  ];
  // Of roots in one another, the innermost is the nearest.
  around.sort((one, other) => other.length - one.length);
  return [...new Set([own, ...above, ...around, ...others])];
}

/** The folder of a Gym checkout that a file is in: the one with `resources_servers` and the like; undefined when in none. */
export function gymRootOf(file: string): string | undefined {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (isGymFolder(folder)) {
      return dirname(folder);
    }
  }
  return undefined;
}

function isGymFolder(folder: string): boolean {
  return GYM_FOLDERS.has(posix.basename(folder));
}

/** Whether a file is somewhere below a folder. */
export function isInside(file: string, folder: string): boolean {
  return file.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/**
 * The module that an import statement in a file names.
 *
 * @param folders where absolute imports are looked for, the first first
 */
export function findModule(
  { module, level }: ModuleReference,
  from: string,
  folders: readonly string[],
  probe: Probe,
): FoundModule {
  const parts = module === '' ? [] : module.split('.');
  if (level === 0) {
    return descend({ kind: 'module', file: undefined, folders }, parts, probe);
  }
  let folder = dirname(from);
  for (let up = 1; up < level; up++) {
    folder = dirname(folder);
  }
  const init = join(folder, '__init__.py');
  const there = probe(init);
  return there === undefined
    ? UNKNOWN
    : descend({ kind: 'module', file: there ? init : undefined, folders: [folder] }, parts, probe);
}

/** The submodule of a package. */
export function findSubmodule(found: FoundModule, name: string, probe: Probe): FoundModule {
  return descend(found, [name], probe);
}

/** Every file that Python runs when it imports the module: its packages' `__init__.py`, and itself. */
export function filesRunBy(
  { module, level }: ModuleReference,
  from: string,
  folders: readonly string[],
  probe: Probe,
): readonly string[] {
  const parts = module === '' ? [] : module.split('.');
  const files: string[] = [];
  for (let count = level > 0 ? 0 : 1; count <= parts.length; count++) {
    const found = findModule({ module: parts.slice(0, count).join('.'), level }, from, folders, probe);
    if (found.kind === 'module' && found.file !== undefined) {
      files.push(found.file);
    }
  }
  return files;
}

function descend(start: FoundModule, parts: readonly string[], probe: Probe): FoundModule {
  let found = start;
  for (const part of parts) {
    if (found.kind !== 'module') {
      return found;
    }
    found = step(found.folders, part, probe);
  }
  return found;
}

/** A package with `__init__.py` or a module in any of the folders comes before a package that is only a folder. */
function step(folders: readonly string[], part: string, probe: Probe): FoundModule {
  let isKnown = true;
  for (const folder of folders) {
    const own = join(folder, part);
    const [init, file] = [join(own, '__init__.py'), `${own}.py`];
    const [hasInit, hasFile] = [probe(init), probe(file)];
    // Asked for all of them although one is not known: so that all can be looked for at once.
    isKnown &&= hasInit !== undefined && (hasInit || hasFile !== undefined);
    if (isKnown && hasInit) {
      return { kind: 'module', file: init, folders: [own] };
    }
    if (isKnown && hasFile) {
      return { kind: 'module', file, folders: [] };
    }
  }
  if (!isKnown) {
    return UNKNOWN;
  }
  // Whether one of these folders is there does not matter: one that is not has no submodule.
  return folders.length === 0
    ? MISSING
    : { kind: 'module', file: undefined, folders: folders.map((folder) => join(folder, part)) };
}

/** The folders that the lines of a `.pth` file add to Python's path; lines that are programs are left out. */
export function foldersOfPthFile(text: string, sitePackages: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#') && !/^import[ \t]/.test(line))
    .map((line) => posix.resolve(sitePackages, line));
}
