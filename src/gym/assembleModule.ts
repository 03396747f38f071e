import { foldFlag } from './flagInBody';
import type {
  CallFragment,
  ClassFragment,
  FoundInStatement,
  ImportFragment,
  NameFragment,
  RemoteFragment,
  SettingFragment,
} from './fragments';
import type { ClassFacts, ClassReference, FlagSetting, ModuleFacts, RayRemote, StartCall } from './moduleFacts';
import { createNames, type Names } from './names';

/** Everything that the statements of a file say, in its order, with places as the file has them. */
export interface Collected {
  readonly classes: FoundInStatement<ClassFragment>[];
  readonly imports: FoundInStatement<ImportFragment>[];
  readonly calls: FoundInStatement<CallFragment>[];
  readonly settings: FoundInStatement<SettingFragment>[];
  readonly remotes: FoundInStatement<RemoteFragment>[];
  readonly names: FoundInStatement<NameFragment>[];
  exports: readonly string[] | undefined;
  /** Whether workers get a Python in some other place than where they are made. */
  otherPyExecutable: boolean;
  /** Whether Python would refuse to run the file. */
  isRefused: boolean;
}

/** Puts together what the statements say: finds out what the names in them mean. */
export function assembleModule(found: Collected): ModuleFacts {
  const names = createNames(found);
  const onInstances = found.settings.filter(({ what }) => what.target === 'self');
  return {
    classes: found.classes.map((item) => classFacts(item, onInstances, names)),
    names: names.bindings,
    starImports: found.imports
      .filter(({ what, around }) => around.scopes.length === 0 && what.names.some(({ name }) => name === '*'))
      .map(({ what: { module, level }, range }) => ({ module, level, line: range.startLine })),
    exports: found.exports,
    importedModules: found.imports.map(({ what, around, range }) => ({
      module: what.module,
      level: what.level,
      names: what.names.map(({ name }) => name).filter((name) => name !== '*'),
      range,
      typeCheckingOnly: around.typeCheckingOnly,
    })),
    startCalls: found.calls.map((item) => startCall(item, names)),
    settings: found.settings.filter(({ what }) => what.target !== 'self').map((item) => setting(item, names)),
    rayUses: found.imports
      .filter(({ what, around }) => isRay(what.module) && what.level === 0 && !around.typeCheckingOnly)
      .map(({ what, range }) => ({ range, text: what.text.split('\n', 1)[0] ?? '' })),
    remotes: found.remotes.filter((item) => isOfRay(item, names)).map((item) => remote(item, found.otherPyExecutable)),
    parses: !found.isRefused,
  };
}

function classFacts(
  { what, around, range }: FoundInStatement<ClassFragment>,
  onInstances: readonly FoundInStatement<SettingFragment>[],
  names: Names,
): ClassFacts {
  const place = { scopes: around.scopes, line: range.startLine };
  const flag = foldFlag(
    what.flagBindings.map((binding) =>
      binding.typeName !== undefined && isClassVariable(names.resolve(binding.typeName, place).reference)
        ? { ...binding, annotation: 'class_var' }
        : binding,
    ),
  );
  const onInstance = onInstances.find((setting) => {
    const innermost = setting.around.scopes.findLast(({ kind }) => kind === 'class');
    return innermost?.line === range.startLine && innermost.column === range.startColumn;
  });
  const prefix = around.scopes.map(({ kind, name }) => (kind === 'function' ? `${name}.<locals>.` : `${name}.`));
  return {
    name: what.name,
    qualifiedName: `${prefix.join('')}${what.name}`,
    nameRange: what.nameRange,
    place: around.scopes.at(-1)?.kind ?? (around.isPlain ? 'top' : 'conditional'),
    bases: what.bases.map(({ name, text }) =>
      name === undefined ? { kind: 'unknown', text } : names.resolve(name, place).reference,
    ),
    flag: onInstance
      ? { ...flag, warnings: [...flag.warnings, { code: 'set_on_instance', range: onInstance.range }] }
      : flag,
  };
}

/** `from typing import ClassVar as CV`: the type of a class variable under another name. */
function isClassVariable(reference: ClassReference): boolean {
  return (
    reference.kind === 'import' &&
    /^typing(?:_extensions)?$/.test(reference.module) &&
    /^(?:ClassVar|Final)$/.test(reference.path.join('.'))
  );
}

function startCall({ what, around, range }: FoundInStatement<CallFragment>, names: Names): StartCall {
  const innermost = around.scopes.findLast(({ kind }) => kind === 'function');
  const place = { scopes: around.scopes, line: range.startLine, isLate: innermost !== undefined };
  const { reference, throughAlias } = names.resolve(what.receiver, place);
  const guard = innermost ? 'function' : (around.guard ?? 'module');
  return {
    receiver: what.receiver,
    range,
    target: reference,
    throughAlias,
    guard,
    function: innermost?.name,
    starts: guard !== 'fastapi' && guard !== 'not_main',
  };
}

function setting({ what, around, range }: FoundInStatement<SettingFragment>, names: Names): FlagSetting {
  const place = { scopes: around.scopes, line: range.startLine };
  return {
    target: names.resolve(what.target, place).reference,
    value: what.value,
    range,
    certain: around.scopes.length === 0 && !around.conditional,
  };
}

function isRay(module: string): boolean {
  return module === 'ray' || module.startsWith('ray.');
}

function isOfRay({ what, around, range }: FoundInStatement<RemoteFragment>, names: Names): boolean {
  const { reference } = names.resolve(what.name, { scopes: around.scopes, line: range.startLine, isLate: true });
  return reference.kind === 'import'
    ? reference.module === 'ray' && reference.path.join('.') === 'remote'
    : reference.kind === 'name' && what.name === 'ray.remote';
}

function remote({ what, range }: FoundInStatement<RemoteFragment>, givenElsewhere: boolean): RayRemote {
  const isOpen = what.pyExecutable === 'missing' && givenElsewhere;
  return { range, pyExecutable: isOpen ? 'unknown' : what.pyExecutable };
}
