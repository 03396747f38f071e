import { isOfStandardLibrary } from '../python/standardLibrary';
import type { ImportedModule, ModuleFacts, ModuleReference, RayUse } from './moduleFacts';
import { filesRunBy, findModule, isInside, type SearchPath, workspaceFolders } from './moduleSearch';
import type { ModuleStore } from './moduleStore';

/** The first place in the code that a server runs that needs Ray. */
export interface RayReach {
  readonly file: string;
  readonly use: RayUse;
}

/** Code that is not looked at: Gym itself imports Ray whatever a server says, and so may any package. */
const NOT_OF_THE_SERVER = /^(?:nemo_gym|ray)(?:\.|$)/;

/**
 * Looks for a use of Ray in a file and in all that it imports of the workspace, the nearest first. `none` when there is
 * none, undefined when it found none and could not follow every import: neither to a file of the workspace nor to an
 * installed package.
 */
export async function findRayUse(
  path: string,
  facts: ModuleFacts,
  store: ModuleStore,
  roots: readonly string[],
  installed: readonly string[],
): Promise<RayReach | 'none' | undefined> {
  const folders = workspaceFolders(path, roots);
  const searchPath = { workspace: folders, installed };
  let isAllFollowed = facts.parses;
  const seen = new Set([path]);
  let level: { readonly file: string; readonly facts: ModuleFacts }[] = [{ file: path, facts }];
  while (level.length > 0) {
    const user = level.find((module) => module.facts.rayUses.length > 0);
    const [use] = user?.facts.rayUses ?? [];
    if (user && use) {
      return { file: user.file, use };
    }
    const next: typeof level = [];
    for (const module of level) {
      for (const imported of module.facts.importedModules) {
        const run = await filesOf(imported, module.file, searchPath, store);
        isAllFollowed &&= run.isFollowed;
        for (const file of run.files) {
          if (seen.has(file) || ![...folders, ...roots].some((folder) => isInside(file, folder))) {
            continue;
          }
          seen.add(file);
          const found = store.documentOf(file) ?? (await store.load(file));
          isAllFollowed &&= found?.parses === true;
          if (found) {
            next.push({ file, facts: found });
          }
        }
      }
    }
    level = next;
  }
  return isAllFollowed ? 'none' : undefined;
}

/**
 * Every file of the workspace that an import runs: that of the module, and those of the names that are modules; and whether
 * that is all that it runs, but for Python's own modules and installed ones.
 */
async function filesOf(
  imported: ImportedModule,
  from: string,
  { workspace, installed }: SearchPath,
  store: ModuleStore,
): Promise<{ readonly files: readonly string[]; readonly isFollowed: boolean }> {
  const { module, level } = imported;
  if (imported.typeCheckingOnly || (level === 0 && NOT_OF_THE_SERVER.test(module))) {
    return { files: [], isFollowed: true };
  }
  const own = { module, level };
  const ofNames = imported.names.map((name) => ({ module: module === '' ? name : `${module}.${name}`, level }));
  for (;;) {
    const unknown = new Set<string>();
    const probe = (path: string): boolean | undefined => {
      const there = store.isThere(path);
      if (there === undefined) {
        unknown.add(path);
      }
      return there;
    };
    const isThere = (folders: readonly string[], reference: ModuleReference): boolean => {
      const found = findModule(reference, from, folders, probe);
      return found.kind === 'module' && found.file !== undefined;
    };
    // Of a folder without `__init__.py`, only modules can be taken.
    const isIn = (folders: readonly string[]): boolean =>
      isThere(folders, own) || (ofNames.length > 0 && ofNames.every((reference) => isThere(folders, reference)));
    const files = [own, ...ofNames].flatMap((reference) => filesRunBy(reference, from, workspace, probe));
    const isFollowed =
      isIn(workspace) || (level === 0 && files.length === 0 && (isOfPython(module) || isIn(installed)));
    if (unknown.size === 0) {
      return { files, isFollowed };
    }
    await Promise.all([...unknown].map(store.load));
  }
}

/** Python's own modules use no Ray, but for the one that imports what only running the file can tell. */
function isOfPython(module: string): boolean {
  return isOfStandardLibrary(module) && !/^importlib(?:\.|$)/.test(module);
}
