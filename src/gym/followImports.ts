import { isBuiltInClass, isOfStandardLibrary } from '../python/standardLibrary';
import type { FollowReference, FoundClass, Resolution } from './followReference';
import type { ClassReference, ModuleFacts, ModuleReference, NameBinding } from './moduleFacts';
import { type FoundModule, findModule, findSubmodule, type Probe, type SearchPath } from './moduleSearch';
import { areInTry, sinceLastCertain } from './names';
import { firstFound } from './references';
import { wellKnownBase } from './wellKnownBases';

/** What has been read so far. */
export interface LoadedModules {
  readonly probe: Probe;
  /** Undefined when the file is there and has not been read yet. */
  factsOf(path: string): ModuleFacts | undefined;
}

/** Follows references through the modules that have been read, and notes what it would have to know besides. */
export interface Follower {
  readonly follow: FollowReference;
  /** Files that have to be looked for, and read when they are there, before the answers are final. */
  readonly missing: ReadonlySet<string>;
  /** Every file that the answers depend on, whether it is there or not. */
  readonly consulted: ReadonlySet<string>;
}

/** Classes of `nemo_gym` that servers mix in and that do not come from the one with the flag. */
const GYM_CLASSES_WITHOUT_FLAG: ReadonlySet<string> = new Set([
  'AggregateMetricsMixin',
  'BaseResourcesServer',
  'BaseResponsesAPIAgent',
  'BaseResponsesAPIModel',
  'BaseServer',
  'HeadServer',
]);

/** A place to go on from: a file whose names are looked up. */
interface ModuleFile {
  readonly file: string;
  readonly facts: ModuleFacts;
}

/**
 * Follows imports as Python would run the file that is read.
 *
 * @param searchPath where its imports are looked for; the same for all that it imports, since it is the script that is run
 */
export function createFollower(searchPath: SearchPath, loaded: LoadedModules): Follower {
  const missing = new Set<string>();
  const consulted = new Set<string>();

  const probe: Probe = (path) => {
    consulted.add(path);
    const there = loaded.probe(path);
    if (there === undefined) {
      missing.add(path);
    }
    return there;
  };

  const open = (file: string): ModuleFile | undefined => {
    consulted.add(file);
    const facts = loaded.factsOf(file);
    if (!facts) {
      missing.add(file);
    }
    return facts && { file, facts };
  };

  /** The workspace comes before Python's own modules, as the folder of a script does, and those before what is installed. */
  const find = (reference: ModuleReference, from: string): FoundModule => {
    const found = findModule(reference, from, searchPath.workspace, probe);
    if (reference.level > 0 || (found.kind === 'module' && found.file !== undefined) || found.kind === 'unknown') {
      return found;
    }
    if (isOfStandardLibrary(reference.module)) {
      return { kind: 'missing' };
    }
    const installed = findModule(reference, from, searchPath.installed, probe);
    if (installed.kind === 'module' && installed.file === undefined && found.kind === 'module') {
      return { ...found, folders: [...found.folders, ...installed.folders] };
    }
    return installed.kind === 'missing' ? found : installed;
  };

  const resolve = (from: ModuleFile, reference: ClassReference, seen: ReadonlySet<string>): Resolution => {
    switch (reference.kind) {
      case 'class':
        return { ...from, index: reference.index };
      case 'either':
        return firstFound(reference, (choice) => resolve(from, choice, seen));
      case 'unknown':
        return 'unresolved';
      case 'star_or': {
        const otherwise = resolve(from, reference.otherwise, seen);
        const found = inStarImports(from, reference.name.split('.'), seen, reference.after);
        // That a module which is not there would have another class of Gym's or Python's name is hardly meant.
        return found === undefined || (found === 'unresolved' && typeof otherwise === 'string') ? otherwise : found;
      }
      case 'name': {
        const path = reference.name.split('.');
        const found = inStarImports(from, path, seen);
        return found ?? wellKnownBase(reference) ?? (isBuiltInClass(reference.name) ? 'harmless' : 'unresolved');
      }
      case 'import': {
        // Gym's own bases are known, whatever Gym is installed: its modules are long, and read by every server.
        if (isOfGym(reference) && wellKnownBase(reference) === 'gym_base') {
          return 'gym_base';
        }
        const found = imported(from.file, reference, reference.path, seen);
        return found === 'unresolved' ? (knownByName(reference) ?? found) : found;
      }
    }
  };

  /** What a path of names means that is looked up in an imported module. */
  const imported = (
    from: string,
    reference: ModuleReference,
    path: readonly string[],
    seen: ReadonlySet<string>,
  ): Resolution => {
    // What pydantic's modules hold is made when they are asked for it: their text does not say.
    if (isOpaque(reference)) {
      return 'unresolved';
    }
    return inModule(find(reference, from), path, seen);
  };

  const inModule = (found: FoundModule, path: readonly string[], seen: ReadonlySet<string>): Resolution => {
    const [name, ...rest] = path;
    if (found.kind !== 'module' || name === undefined) {
      return 'unresolved';
    }
    const module = found.file === undefined ? undefined : open(found.file);
    const attribute = module && inFile(module, path, seen);
    if (attribute !== undefined) {
      return attribute;
    }
    if (found.file !== undefined && !module) {
      return 'unresolved';
    }
    return found.folders.length === 0 ? 'unresolved' : inModule(findSubmodule(found, name, probe), rest, seen);
  };

  /** What a path of names means at the top level of a file; undefined when the first of them is not bound there. */
  const inFile = (module: ModuleFile, path: readonly string[], seen: ReadonlySet<string>): Resolution | undefined => {
    const [name = '', ...rest] = path;
    const key = `${module.file}\n${path.join('.')}`;
    if (seen.has(key)) {
      return 'unresolved';
    }
    const within = new Set([...seen, key]);
    const bindings = inForce(module.facts.names.get(name) ?? []);
    if (bindings.length === 0) {
      return inStarImports(module, path, within);
    }
    const last = Math.max(...bindings.map(({ line }) => line));
    const fromStar = module.facts.starImports.some(({ line }) => line > last)
      ? inStarImports(module, path, within, last)
      : undefined;
    if (fromStar !== undefined) {
      return fromStar;
    }
    // The choices are made of bindings, and `firstFound` takes references: the index tells which is which.
    const choices = bindings.map((_, index): ClassReference => ({ kind: 'class', index }));
    return firstFound({ kind: 'either', inTry: areInTry(bindings), choices }, (choice) => {
      const binding = choice.kind === 'class' ? bindings[choice.index] : undefined;
      return binding ? ofBinding(module, binding, rest, within) : 'unresolved';
    });
  };

  const ofBinding = (
    module: ModuleFile,
    binding: NameBinding,
    rest: readonly string[],
    seen: ReadonlySet<string>,
  ): Resolution => {
    switch (binding.kind) {
      case 'class':
        return classIn({ ...module, index: binding.index }, rest);
      case 'import': {
        const path = binding.name === undefined ? rest : [binding.name, ...rest];
        return resolve(module, { kind: 'import', module: binding.module, level: binding.level, path }, seen);
      }
      case 'alias':
        return (
          inFile(module, [...binding.target.split('.'), ...rest], seen) ??
          resolve(module, { kind: 'name', name: binding.target }, seen)
        );
      case 'other':
        return 'unresolved';
    }
  };

  /** The later of two star imports wins; a name that one does not export is looked for in the one before. */
  const inStarImports = (
    { file, facts }: ModuleFile,
    path: readonly string[],
    seen: ReadonlySet<string>,
    after?: number,
  ): Resolution | undefined => {
    const [name = ''] = path;
    for (const star of facts.starImports.toReversed().filter(({ line }) => after === undefined || line > after)) {
      const found = find(star, file);
      // What it would bring in the place of what is known cannot be told.
      if (after !== undefined && (found.kind !== 'module' || found.file === undefined)) {
        return 'unresolved';
      }
      const module = found.kind === 'module' && found.file !== undefined ? open(found.file) : undefined;
      const exports = module?.facts.exports;
      if (module && (exports ? exports.includes(name) : !name.startsWith('_'))) {
        const resolution = inFile(module, path, seen) ?? (exports ? inModule(found, path, seen) : undefined);
        if (resolution !== undefined) {
          return resolution;
        }
      }
    }
    return undefined;
  };

  return { follow: (from, reference) => resolve(from, reference, new Set()), missing, consulted };
}

/** `Outer.Inner`: the class in a class. */
function classIn(found: FoundClass, path: readonly string[]): Resolution {
  const outer = found.facts.classes[found.index];
  if (path.length === 0) {
    return found;
  }
  const name = [outer?.qualifiedName, ...path].join('.');
  const index = found.facts.classes.findLastIndex(({ qualifiedName }) => qualifiedName === name);
  return index < 0 ? 'unresolved' : { ...found, index };
}

/** What can hold when the whole module has run: the last binding that is surely executed, and the conditional ones after it. */
function inForce(all: readonly NameBinding[]): NameBinding[] {
  const ofModule = all.filter(({ local }) => !local);
  const executed = ofModule.filter(({ typeCheckingOnly }) => !typeCheckingOnly);
  const usable = executed.length > 0 ? executed : ofModule;
  return sinceLastCertain(usable);
}

function isOpaque({ module, level }: ModuleReference): boolean {
  return level === 0 && /^(?:pydantic|pydantic_core|typing_extensions)(?:\.|$)/.test(module);
}

function isOfGym({ module, level }: ModuleReference): boolean {
  return level === 0 && module.split('.', 1)[0] === 'nemo_gym';
}

/** What is known of a class by its module and name, when the module itself is not to be found. */
function knownByName(reference: Extract<ClassReference, { kind: 'import' }>): 'gym_base' | 'harmless' | undefined {
  if (reference.level > 0) {
    return undefined;
  }
  if (isOfGym(reference)) {
    const isPlain = GYM_CLASSES_WITHOUT_FLAG.has(reference.path.at(-1) ?? '');
    return isPlain ? 'harmless' : wellKnownBase(reference);
  }
  return isOpaque(reference) || isOfStandardLibrary(reference.module) ? 'harmless' : undefined;
}
