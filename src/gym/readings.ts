import type { FollowReference, FoundClass } from './followReference';
import { isCertain, linearize, type OrderEntry } from './linearize';
import type { ClassFacts, ClassReference, FlagSetting, ModuleFacts, StartCall } from './moduleFacts';
import { isSame, nameOfReference, withinTheFile } from './references';
import type {
  EntrypointReading,
  FlagOrigin,
  FlagReading,
  FlagValue,
  ModelField,
  ServerClass,
  ServerFile,
  StartedElsewhere,
  SupervisorReading,
} from './serverFile';
import { wellKnownBase } from './wellKnownBases';

/** The file that is read, and how to get from it to others. */
interface Reader {
  readonly file: string;
  readonly facts: ModuleFacts;
  readonly follow: FollowReference;
}

/**
 * Reads what one file holds that concerns Gym, from its facts.
 *
 * @param follow leads to classes of other files; without it the tree reading is the same as that of the file alone
 */
export function readServerFile(file: string, facts: ModuleFacts, follow?: FollowReference): ServerFile {
  const alone: Reader = { file, facts, follow: withinTheFile };
  const inTree: Reader = follow ? { file, facts, follow } : alone;
  const started = startedClasses(inTree);
  const classes = facts.classes.flatMap((candidate, index) => {
    const calls = started.get(index) ?? [];
    return calls.length > 0 || isServer({ file, facts, index }, inTree.follow)
      ? [serverClass(candidate, index, calls, alone, inTree)]
      : [];
  });
  const startedElsewhere = facts.startCalls
    .filter(({ target }) => choicesOf(target).some(({ kind }) => kind !== 'class'))
    .map((call) => startedElsewhereBy(call, alone, inTree));
  return {
    classes,
    startCalls: facts.startCalls,
    startedElsewhere,
    entrypoint: entrypointReading(facts, classes, startedElsewhere),
    rayUses: facts.rayUses,
    remotes: facts.remotes,
    parses: facts.parses,
  };
}

function serverClass(
  candidate: ClassFacts,
  index: number,
  calls: readonly StartCall[],
  alone: Reader,
  inTree: Reader,
): ServerClass {
  const own = { file: alone.file, facts: alone.facts, index };
  const sameFile = readFlag(own, alone);
  const setOutside = settingsOf(own, alone).at(-1);
  const tree = inTree === alone ? sameFile : readFlag(own, inTree);
  return {
    name: candidate.name,
    qualifiedName: candidate.qualifiedName,
    nameRange: candidate.nameRange,
    isTopLevel: candidate.place === 'top',
    declared: candidate.flag.value,
    declaration: candidate.flag.declaration,
    strict: candidate.flag.strict,
    sameFile,
    tree,
    ...asModel(own, tree, inTree),
    starts: calls.some(({ starts }) => starts),
    startCalls: calls,
    warnings: setOutside
      ? [...candidate.flag.warnings, { code: 'set_outside_class_body', range: setOutside.range }]
      : candidate.flag.warnings,
  };
}

/** What pydantic makes of the flag of a class. */
function asModel(
  own: FoundClass,
  tree: FlagReading,
  reader: Reader,
): Pick<ServerClass, 'runs' | 'field' | 'inheritsField'> {
  const order = linearize(own, reader.follow);
  const types = order.map((entry) => (entry.kind === 'class' ? flagFactsOf(entry.found)?.type?.makes : undefined));
  if (!types.includes('field')) {
    return { runs: tree, field: undefined, inheritsField: false };
  }
  return {
    runs: readFlag(own, reader, (found) => fieldOf(found, linearize(found, reader.follow), reader) !== undefined),
    field: fieldOf(own, order, reader),
    inheritsField: fieldOf(own, order.slice(1), reader) !== undefined,
  };
}

/**
 * The nearest type of the flag in Python's order of bases, when it makes a field: of a class that is a model, pydantic then
 * deletes the attribute, whether the class has the type itself or inherits it (measured with pydantic 2.14).
 */
function fieldOf(of: FoundClass, order: readonly OrderEntry[], reader: Reader): ModelField | undefined {
  for (const entry of order) {
    const type = entry.kind === 'class' ? flagFactsOf(entry.found)?.type : undefined;
    if (entry.kind === 'class' && type) {
      const { file, facts, index } = entry.found;
      return type.makes === 'field' && isModel(of, reader.follow)
        ? {
            className: facts.classes[index]?.qualifiedName ?? '',
            isOwn: isSame(entry.found, of),
            file: file === reader.file ? undefined : file,
            range: type.range,
          }
        : undefined;
    }
    // Gym's own type is ClassVar; of a base that cannot be looked at nobody knows.
    if (entry.kind === 'gym_flag' || entry.kind === 'unresolved') {
      return undefined;
    }
  }
  return undefined;
}

function flagFactsOf({ facts, index }: FoundClass): ClassFacts['flag'] | undefined {
  return facts.classes[index]?.flag;
}

/** Whether a class is a pydantic model; one with a base that cannot be looked at is taken for one. */
function isModel(candidate: FoundClass, follow: FollowReference, seen: ReadonlySet<string> = new Set()): boolean {
  const key = `${candidate.file}\n${candidate.index}`;
  const bases = seen.has(key) ? [] : (candidate.facts.classes[candidate.index]?.bases ?? []);
  return bases.some((base) => {
    const found = follow(candidate, base);
    if (typeof found !== 'string') {
      return isModel(found, follow, new Set([...seen, key]));
    }
    return found === 'harmless' ? base.kind === 'import' && /^pydantic(?:\.|$)/.test(base.module) : true;
  });
}

function startedElsewhereBy(call: StartCall, alone: Reader, inTree: Reader): StartedElsewhere {
  const sameFile = readReference(call.target, alone);
  return { call, sameFile, tree: inTree === alone ? sameFile : readReference(call.target, inTree) };
}

function readReference(reference: ClassReference, reader: Reader): FlagReading {
  const found = reader.follow({ file: reader.file, facts: reader.facts }, reference);
  if (typeof found === 'string') {
    return found === 'gym_base'
      ? UNDECLARED
      : { value: 'unknown', origin: { kind: 'unresolved', what: nameOfReference(reference) } };
  }
  return readFlag(found, reader);
}

/**
 * The value that the class has when the file runs: that of the first class in Python's order of bases that has one.
 *
 * @param isTaken whether a class does not get what its body says
 */
function readFlag(own: FoundClass, reader: Reader, isTaken = (_: FoundClass): boolean => false): FlagReading {
  const order = linearize(own, reader.follow);
  const gap = order.find((entry) => entry.kind === 'unresolved');
  const unknown: FlagReading = { value: 'unknown', origin: { kind: 'unresolved', what: gap?.what ?? '' } };
  for (const entry of order) {
    if (entry.kind === 'unresolved') {
      return unknown;
    }
    const reading = entry.kind === 'class' ? ownValue(entry.found, own, reader, isTaken) : undefined;
    if (reading || entry.kind === 'gym_flag') {
      const isFirst = gap === undefined || isCertain(own, entry, reader.follow);
      return isFirst ? (reading ?? UNDECLARED) : unknown;
    }
  }
  return UNDECLARED;
}

const UNDECLARED: FlagReading = { value: 'not_declared', origin: undefined };

/** What one class of the order says itself; undefined when it says nothing, so that the next one is asked. */
function ownValue(
  entry: FoundClass,
  own: FoundClass,
  reader: Reader,
  isTaken: (found: FoundClass) => boolean,
): FlagReading | undefined {
  const facts = entry.facts.classes[entry.index];
  const settings = settingsOf(entry, reader);
  const last = settings.at(-1);
  if (!facts || (!last && (!facts.flag.bound || isTaken(entry)))) {
    return undefined;
  }
  // The None of Gym's own base is nobody's declaration.
  if (facts.name === 'SimpleServer' && facts.flag.value === 'not_declared' && !last) {
    return UNDECLARED;
  }
  return { value: last ? settingValue(last) : facts.flag.value, origin: originOf(entry, facts, own, reader, last) };
}

function settingValue(setting: FlagSetting): FlagValue {
  return setting.certain ? setting.value : 'unreadable';
}

function originOf(
  entry: FoundClass,
  facts: ClassFacts,
  own: FoundClass,
  reader: Reader,
  last: FlagSetting | undefined,
): FlagOrigin {
  const setAgain = last ? { setAgainOnLine: last.range.startLine } : {};
  // Of a class of another file that this file starts, its own declaration is a place in that file too.
  if (entry.file === own.file && entry.index === own.index && own.file === reader.file) {
    return { kind: 'own', ...setAgain };
  }
  return {
    kind: 'base',
    className: facts.qualifiedName,
    file: entry.file === reader.file ? undefined : entry.file,
    range: facts.flag.declaration ?? facts.nameRange,
    ...setAgain,
  };
}

/** The settings from outside that are for this class: in its own file, and in the file that is read. */
function settingsOf(entry: FoundClass, reader: Reader): FlagSetting[] {
  const files = entry.file === reader.file ? [reader] : [{ file: entry.file, facts: entry.facts }, reader];
  return files.flatMap(({ file, facts }) =>
    facts.settings.filter(({ target }) => {
      const found = reader.follow({ file, facts }, target);
      return typeof found !== 'string' && found.file === entry.file && found.index === entry.index;
    }),
  );
}

/** Whether the class says something about the flag or comes from a server. */
function isServer(candidate: FoundClass, follow: FollowReference, seen: ReadonlySet<string> = new Set()): boolean {
  const facts = candidate.facts.classes[candidate.index];
  const key = `${candidate.file}\n${candidate.index}`;
  if (!facts || seen.has(key)) {
    return false;
  }
  if (facts.flag.mentioned) {
    return true;
  }
  return facts.bases.some((base) => {
    const found = follow(candidate, base);
    return typeof found === 'string'
      ? found === 'gym_base' || wellKnownBase(base) === 'gym_base'
      : isServer(found, follow, new Set([...seen, key]));
  });
}

function startedClasses({ facts }: Reader): Map<number, StartCall[]> {
  const started = new Map<number, StartCall[]>();
  for (const call of facts.startCalls) {
    for (const target of choicesOf(call.target)) {
      if (target.kind === 'class') {
        started.set(target.index, [...(started.get(target.index) ?? []), call]);
      }
    }
  }
  return started;
}

/** Of a class that is another one in each branch, any may be meant. */
function choicesOf(reference: ClassReference): readonly ClassReference[] {
  return reference.kind === 'either' ? reference.choices.flatMap(choicesOf) : [reference];
}

function entrypointReading(
  facts: ModuleFacts,
  classes: readonly ServerClass[],
  elsewhere: readonly StartedElsewhere[],
): EntrypointReading {
  const strict = strictReading(facts);
  const started = [...classes.filter(({ starts }) => starts), ...elsewhere.filter(({ call }) => call.starts)];
  return {
    strict: strict.value,
    strictOpen: strict.isOpen,
    sameFile: union(started.map(({ sameFile }) => sameFile.value)),
    tree: union(started.map(({ tree }) => tree.value)),
  };
}

/**
 * The supervisor's rule: of the classes that plain names start, any that is on makes it on; else any that it cannot read
 * makes it unknown. A name counts only when it is a class at the top level of this same file; of two, the last.
 */
function strictReading({ classes, startCalls, parses }: ModuleFacts): { value: SupervisorReading; isOpen: boolean } {
  const flags = startCalls.map(
    ({ receiver }) => classes.findLast(({ name, place }) => place === 'top' && name === receiver)?.flag,
  );
  const readings = new Set(flags.map((flag) => flag?.strict ?? 'unknown'));
  const isOpen = parses && flags.some((flag) => flag?.strictOpen);
  if (!parses || readings.size === 0) {
    return { value: 'unknown', isOpen };
  }
  return { value: readings.has('on') ? 'on' : readings.has('unknown') ? 'unknown' : 'off', isOpen };
}

/** Of what is started, any on makes it on; else what is least known decides. */
function union(values: readonly FlagValue[]): FlagValue {
  const weightiest = (['on', 'unknown', 'unreadable', 'not_declared', 'off'] as const).find((value) =>
    values.includes(value),
  );
  return weightiest ?? 'not_declared';
}
