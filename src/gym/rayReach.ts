import type { ImportedModule, ModuleFacts, RayUse } from './moduleFacts';
import { filesRunBy, isInside, workspaceFolders } from './moduleSearch';
import type { ModuleStore } from './moduleStore';

/** The first place in the code that a server runs that needs Ray. */
export interface RayReach {
  readonly file: string;
  readonly use: RayUse;
}

/** Code that is not looked at: Gym itself imports Ray whatever a server says, and so may any package. */
const NOT_OF_THE_SERVER = /^(?:nemo_gym|ray)(?:\.|$)/;

/**
 * Looks for a use of Ray in a file and in all that it imports of the workspace, the nearest first; undefined when there is
 * none. Files that cannot be found are passed over.
 */
export async function findRayUse(
  path: string,
  facts: ModuleFacts,
  store: ModuleStore,
  roots: readonly string[],
): Promise<RayReach | undefined> {
  const folders = workspaceFolders(path, roots);
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
        for (const file of await filesOf(imported, module.file, folders, store)) {
          if (seen.has(file) || ![...folders, ...roots].some((folder) => isInside(file, folder))) {
            continue;
          }
          seen.add(file);
          const found = store.documentOf(file) ?? (await store.load(file));
          if (found) {
            next.push({ file, facts: found });
          }
        }
      }
    }
    level = next;
  }
  return undefined;
}

/** Every file that an import runs: that of the module, and those of the names that are modules. */
async function filesOf(
  imported: ImportedModule,
  from: string,
  folders: readonly string[],
  store: ModuleStore,
): Promise<readonly string[]> {
  if (imported.typeCheckingOnly || (imported.level === 0 && NOT_OF_THE_SERVER.test(imported.module))) {
    return [];
  }
  const { module, level } = imported;
  const references = [
    { module, level },
    ...imported.names.map((name) => ({ module: module === '' ? name : `${module}.${name}`, level })),
  ];
  for (;;) {
    const unknown = new Set<string>();
    const files = references.flatMap((reference) =>
      filesRunBy(reference, from, folders, (path) => {
        const there = store.isThere(path);
        if (there === undefined) {
          unknown.add(path);
        }
        return there;
      }),
    );
    if (unknown.size === 0) {
      return files;
    }
    await Promise.all([...unknown].map(store.load));
  }
}
