import type { SourceRange } from '../python/syntax';
import type { RayRemote } from './moduleFacts';
import type { RayReach } from './rayReach';
import type { FlagValue, ModelField, ServerClass, ServerFile, StartedElsewhere } from './serverFile';
import type { GymVersion } from './verdict';

/** Stable: they stand in settings and in comments that silence a problem. */
export type ProblemCode =
  | 'ray-enabled-not-declared'
  | 'ray-enabled-not-readable'
  | 'ray-enabled-model-field'
  | 'ray-enabled-declared-twice'
  | 'ray-enabled-set-outside'
  | 'ray-enabled-not-known'
  | 'ray-used-but-off'
  | 'ray-enabled-unused'
  | 'ray-remote-without-py-executable';

export type Severity = 'error' | 'warning' | 'information' | 'hint';

/** How grave each problem is as long as no setting says otherwise. */
export const DEFAULT_SEVERITIES: Readonly<Record<ProblemCode, Severity>> = {
  'ray-enabled-not-declared': 'warning',
  'ray-enabled-not-readable': 'warning',
  'ray-enabled-model-field': 'error',
  'ray-enabled-declared-twice': 'warning',
  'ray-enabled-set-outside': 'warning',
  'ray-enabled-not-known': 'information',
  'ray-used-but-off': 'error',
  'ray-enabled-unused': 'hint',
  'ray-remote-without-py-executable': 'warning',
};

/** What can be done about a problem. Where in the text is found when it is done, in the text of that moment. */
export type ProblemFix =
  /** Writes the flag into the class, or changes the value that is there. */
  | {
      readonly kind: 'declare';
      readonly value: 'on' | 'off';
      /** Whether it takes a type, so that a base does not make a field of it. */
      readonly asClassVar: boolean;
    }
  | { readonly kind: 'annotate_class_var' }
  | { readonly kind: 'drop_annotation' }
  | { readonly kind: 'keep_last' }
  | { readonly kind: 'give_py_executable' };

export interface GymProblem {
  readonly code: ProblemCode;
  /** What is so, why it matters and what to do. */
  readonly message: string;
  readonly range: SourceRange;
  readonly severity: Severity;
  readonly related?: { readonly message: string; readonly file: string | undefined; readonly range: SourceRange };
  /** The place that the fixes are for: the name of a class, or the decorator or call of something remote. */
  readonly subject: SourceRange;
  /** The one that is advised comes first. */
  readonly fixes: readonly ProblemFix[];
}

export interface ProblemContext {
  readonly gym: GymVersion;
  /** The nearest use of Ray in the file and what it imports; `unknown` while not all of that has been looked at. */
  readonly rayUse: RayReach | 'none' | 'unknown';
}

/** The problems of a file, each cause told once. None in a file that does not parse: Python's own error comes first. */
export function findProblems(file: ServerFile, context: ProblemContext): GymProblem[] {
  if (!file.parses) {
    return [];
  }
  const ofFlags =
    context.gym === 'before 0.7'
      ? file.classes
          .filter(({ declaration }) => declaration)
          .slice(0, 1)
          .map(notKnown)
      : [
          ...file.classes.flatMap((server) => ofClass(server, context)),
          ...file.startedElsewhere.filter(isOutOfReach).map(startedElsewhere),
        ];
  return [...ofFlags, ...file.remotes.filter(({ pyExecutable }) => pyExecutable === 'missing').map(remote)];
}

function ofClass(server: ServerClass, context: ProblemContext): GymProblem[] {
  const isStarted = server.startCalls.length > 0;
  const value = server.tree.value;
  const flaw = flawOfDeclaration(server);
  if (flaw) {
    return [flaw];
  }
  if (isStarted && server.runs.value !== value && plain(value)) {
    return [inheritedField(server)];
  }
  if (isStarted && value === 'not_declared') {
    return [notDeclared(server, context)];
  }
  if (isStarted && !isSeenBySupervisor(server)) {
    return [notReadable(server)];
  }
  return isStarted ? againstUse(server, context) : [];
}

/** What is wrong with how the flag is written, whoever starts the class. */
function flawOfDeclaration(server: ServerClass): GymProblem | undefined {
  const value = plain(server.declared);
  const rangeOf = (code: ServerClass['warnings'][number]['code']): SourceRange | undefined =>
    server.warnings.find((warning) => warning.code === code)?.range;
  const twice = rangeOf('declared_more_than_once');
  const outside = rangeOf('set_outside_class_body');
  // What is set outside holds, whatever pydantic makes of the body.
  if (server.field && value && !outside) {
    return server.field.isOwn ? ownField(server, server.field, value) : fieldOfBase(server, server.field, value);
  }
  if (twice && value) {
    return problem(
      'ray-enabled-declared-twice',
      server.nameRange,
      twice,
      // The last one may be without the type that an earlier one has.
      server.inheritsField ? [] : [{ kind: 'keep_last' }],
      `${server.name} declares ray_enabled more than once. Python takes the last one; which one gym env start reads is not documented. Keep one.`,
    );
  }
  if (twice && server.declared === 'unreadable' && server.strict !== 'unknown') {
    return problem(
      'ray-enabled-declared-twice',
      server.nameRange,
      twice,
      [],
      `${server.name} gives ray_enabled a value again, which only running the file can tell. gym env start reads ${word(server.strict)} and starts Ray or not by that; the server may have another value. Keep one plain True or False.`,
    );
  }
  if (outside) {
    return problem(
      'ray-enabled-set-outside',
      server.nameRange,
      outside,
      [],
      `ray_enabled of ${server.name} is set outside of the class. gym env start reads only what stands in the body of the class; write it there.`,
    );
  }
  return undefined;
}

function ownField(server: ServerClass, { range }: ModelField, value: 'on' | 'off'): GymProblem {
  const fixes: ProblemFix[] = [
    { kind: 'annotate_class_var' },
    ...(server.inheritsField ? [] : [{ kind: 'drop_annotation' } as const]),
  ];
  return problem(
    'ray-enabled-model-field',
    server.nameRange,
    range,
    fixes,
    `The annotation makes ray_enabled a field of the pydantic model ${server.name}, and the class keeps ${keptValue(server)}: NeMo Gym does not see the ${word(value)} that is written here. Use ClassVar[bool]${server.inheritsField ? '' : ', or drop the annotation'}.`,
  );
}

/** A value without a type of its own, in a class whose base makes a field of it. */
function fieldOfBase(server: ServerClass, field: ModelField, value: 'on' | 'off'): GymProblem {
  return {
    ...problem(
      'ray-enabled-model-field',
      server.nameRange,
      server.declaration ?? server.nameRange,
      [declare(server, value)],
      `${field.className} makes ray_enabled a field of the pydantic model, so ${server.name} keeps ${keptValue(server)}: NeMo Gym does not see the ${word(value)} that is written here. Write ray_enabled: ClassVar[bool] = ${word(value)}.`,
    ),
    related: fieldAt(field),
  };
}

/** A started class without a value of its own, that does not get the one it seems to inherit. */
function inheritedField(server: ServerClass): GymProblem {
  const value = plain(server.tree.value) ?? 'off';
  const other = plain(server.runs.value);
  const from = server.tree.origin?.kind === 'base' ? server.tree.origin.className : 'a base';
  return {
    ...problem(
      'ray-enabled-model-field',
      server.nameRange,
      server.nameRange,
      [declare(server, value), ...(other ? [declare(server, other)] : [])],
      `${server.name} does not inherit the ${word(value)} that ${from} declares: its annotation makes ray_enabled a field of the pydantic model, and the class keeps ${keptValue(server)}. Declare ray_enabled in this class${server.inheritsField ? ' as ClassVar[bool]' : ''}.`,
    ),
    ...(server.field ? { related: fieldAt(server.field) } : {}),
  };
}

function fieldAt({ className, file, range }: ModelField): NonNullable<GymProblem['related']> {
  return { message: `The annotation in ${className}`, file, range };
}

/** What Gym sees in the place of what pydantic takes for a field. */
function keptValue({ runs: { value, origin } }: ServerClass): string {
  const known = plain(value);
  if (known && origin?.kind === 'base') {
    return `the ${word(known)} of ${origin.className}`;
  }
  return value === 'not_declared' ? "Gym's None" : 'the value of another base';
}

/** The fix that writes the flag into a class, so that the class gets it. */
function declare({ inheritsField }: ServerClass, value: 'on' | 'off'): ProblemFix {
  return { kind: 'declare', value, asClassVar: inheritsField };
}

function notDeclared(server: ServerClass, { gym, rayUse }: ProblemContext): GymProblem {
  const uses = typeof rayUse === 'object';
  const advised = declare(server, uses ? 'on' : 'off');
  const other = declare(server, uses ? 'off' : 'on');
  return {
    ...problem(
      'ray-enabled-not-declared',
      server.nameRange,
      server.declaration ?? server.nameRange,
      [advised, other],
      `${server.name} ${server.strict === 'unknown' ? 'does not declare ray_enabled' : `does not keep its ray_enabled, although gym env start reads the ${word(server.strict)} in its body`}. ${UNDECLARED[gym]} ${uses ? 'It uses Ray: declare ray_enabled = True.' : 'Declare ray_enabled = False, or True if it needs Ray.'}`,
    ),
    ...(uses ? { related: useOf(rayUse) } : {}),
  };
}

const UNDECLARED: Readonly<Record<GymVersion, string>> = {
  'before 0.7': 'NeMo Gym before 0.7 does not know it.',
  '0.7': 'NeMo Gym 0.7 then uses Ray and warns; later versions do not use Ray.',
  later: 'NeMo Gym then does not connect it to Ray, and its first Ray call fails.',
  unknown: 'NeMo Gym 0.7 then uses Ray and warns; later versions do not use Ray.',
};

function notReadable(server: ServerClass): GymProblem {
  const { value, origin } = server.tree;
  const known = plain(value);
  const isReached = server.isTopLevel && server.startCalls.some(({ throughAlias }) => !throughAlias);
  const values = known ? [known] : (['off', 'on'] as const);
  const fixes = isReached ? values.map((one) => declare(server, one)) : [];
  const advice =
    fixes.length > 0
      ? 'Write a plain True or False into this class.'
      : 'Start it as NAME.run_webserver() with a class at the top level of this file.';
  return {
    ...problem(
      'ray-enabled-not-readable',
      server.nameRange,
      server.declaration ?? server.nameRange,
      fixes,
      `gym env start cannot read ray_enabled of ${server.name}: ${whyNotReadable(server)}. It may start without the Ray cluster that the server asks for. ${advice}`,
    ),
    ...(origin?.kind === 'base'
      ? { related: { message: `ray_enabled of ${origin.className}`, file: origin.file, range: origin.range } }
      : {}),
  };
}

function whyNotReadable(server: ServerClass): string {
  const { origin } = server.tree;
  if (!server.isTopLevel) {
    return 'the class does not stand at the top level of the file';
  }
  if (server.startCalls.every(({ throughAlias }) => throughAlias)) {
    return 'it is started through another name, which is not followed';
  }
  if (origin?.kind === 'base') {
    return `it is inherited from ${origin.className}, and only the body of the class itself is read`;
  }
  return origin?.kind === 'unresolved' && origin.what !== ''
    ? `it depends on ${origin.what}, which is not followed`
    : 'it is not a plain True or False';
}

/** A flag that is plain to everybody, and what the code does. */
function againstUse(server: ServerClass, { rayUse }: ProblemContext): GymProblem[] {
  const at = server.declaration ?? server.nameRange;
  const { value } = server.tree;
  if (value === 'off' && typeof rayUse === 'object') {
    return [
      {
        ...problem(
          'ray-used-but-off',
          server.nameRange,
          at,
          [declare(server, 'on')],
          `${server.name} says that it does not need Ray, but the code that it runs uses it (${rayUse.use.text}). Without a connection its Ray calls fail. Set ray_enabled = True.`,
        ),
        related: useOf(rayUse),
      },
    ];
  }
  if (value === 'on' && rayUse === 'none') {
    return [
      problem(
        'ray-enabled-unused',
        server.nameRange,
        at,
        [declare(server, 'off')],
        `${server.name} asks for Ray, but no use of Ray was found in this file or in what it imports. With ray_enabled = False no cluster has to be started for it.`,
      ),
    ];
  }
  return [];
}

function startedElsewhere({ call, tree }: StartedElsewhere): GymProblem {
  return {
    ...problem(
      'ray-enabled-not-readable',
      call.range,
      call.range,
      [],
      `gym env start does not follow ${call.receiver} to its file, so it cannot read ray_enabled of it. Make a class of it in this file that declares ray_enabled itself, and start that.`,
    ),
    ...(tree.origin?.kind === 'base'
      ? {
          related: {
            message: `ray_enabled of ${tree.origin.className}`,
            file: tree.origin.file,
            range: tree.origin.range,
          },
        }
      : {}),
  };
}

/** Nobody misses a reading of a class that declares nothing anywhere. */
function isOutOfReach({ call, tree }: StartedElsewhere): boolean {
  return call.starts && tree.value !== 'not_declared';
}

function notKnown(server: ServerClass): GymProblem {
  return problem(
    'ray-enabled-not-known',
    server.nameRange,
    server.declaration ?? server.nameRange,
    [],
    'The NeMo Gym of the chosen Python is older than 0.7 and does not know ray_enabled: it has no effect there.',
  );
}

function remote({ range }: RayRemote): GymProblem {
  return problem(
    'ray-remote-without-py-executable',
    range,
    range,
    [{ kind: 'give_py_executable' }],
    'Ray may run this with the Python of the cluster, which lacks the packages of this server. Give it runtime_env={"py_executable": sys.executable}.',
  );
}

function problem(
  code: ProblemCode,
  subject: SourceRange,
  range: SourceRange,
  fixes: readonly ProblemFix[],
  message: string,
): GymProblem {
  return { code, message, range, severity: DEFAULT_SEVERITIES[code], subject, fixes };
}

function useOf({ file, use }: RayReach): NonNullable<GymProblem['related']> {
  return { message: `Ray is used here: ${use.text}`, file, range: use.range };
}

function isSeenBySupervisor(server: ServerClass): boolean {
  return (
    server.isTopLevel && server.strict !== 'unknown' && server.startCalls.some(({ throughAlias }) => !throughAlias)
  );
}

function plain(value: FlagValue): 'on' | 'off' | undefined {
  return value === 'on' || value === 'off' ? value : undefined;
}

function word(value: 'on' | 'off'): string {
  return value === 'on' ? 'True' : 'False';
}
