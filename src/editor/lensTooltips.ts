import type { FlagReading, FlagValue, ServerClass, StartedElsewhere } from '../gym/serverFile';
import { hasWarning, isPydanticField, readingWords, startedName, supervisorOf } from './lensWords';

const NOT_PARSED = 'Python cannot run this file as it stands, so Gym reads nothing from it.';
const VERSIONS = 'Gym 0.7.0 starts Ray whatever the source says; later versions go by it.';

/** The whole truth about the flag of a class, a line for each part of it. */
export function flagTooltip(server: ServerClass, parses: boolean): string {
  const meaning = isPydanticField(server) ? fieldMeaning(server) : meaningOf(server.tree);
  const supervisor = parses ? aboutSupervisor(server) : [NOT_PARSED];
  return [meaning, ...warningWords(server), ...threeReadings(server), ...supervisor].join('\n');
}

/** The same about a class of another file that this file starts. */
export function startedElsewhereTooltip(elsewhere: StartedElsewhere, parses: boolean): string {
  const name = startedName(elsewhere);
  const supervisor = parses
    ? [
        `Gym's supervisor does not follow imports: for it, what ${name} says is unknown. A class in this file that declares ray_enabled itself is read.`,
        VERSIONS,
      ]
    : [NOT_PARSED];
  return [meaningOf(elsewhere.tree), ...supervisor].join('\n');
}

function meaningOf({ value, origin }: FlagReading): string {
  switch (value) {
    case 'on':
      return 'ray_enabled is True: this server connects to a Ray cluster.';
    case 'off':
      return 'ray_enabled is False: this server does not connect to Ray.';
    case 'not_declared':
      return 'Without ray_enabled, Gym 0.7.0 uses Ray and warns; later versions do not use Ray.';
    case 'unreadable':
      return 'Only running the file tells what ray_enabled is: it is not a plain True or False.';
    case 'unknown':
      return origin?.kind === 'unresolved' && origin.what !== ''
        ? `What ray_enabled is cannot be told without ${origin.what}.`
        : 'What ray_enabled is cannot be told.';
  }
}

function fieldMeaning({ tree: { value }, runs, field, inheritsField }: ServerClass): string {
  const happens =
    value === 'off' ? 'Gym 0.7.0 uses Ray all the same, and warns' : 'later versions do not connect it to Ray';
  const kept =
    runs.value === 'not_declared'
      ? `and the class keeps Gym's None. With that ${happens}.`
      : 'and the class keeps the value of another base.';
  const advice =
    field?.isOwn && !inheritsField
      ? 'Drop the annotation or write ClassVar[bool].'
      : 'Write it here as ClassVar[bool].';
  return `A Gym server is a pydantic model: an annotation without ClassVar makes ray_enabled a field of it, ${kept} ${advice}`;
}

function warningWords(server: ServerClass): string[] {
  const { warnings, tree } = server;
  const says = (code: Parameters<typeof hasWarning>[1], words: string): string[] =>
    hasWarning(warnings, code) ? [words] : [];
  const setAgain = tree.origin?.kind !== 'unresolved' ? tree.origin?.setAgainOnLine : undefined;
  return [
    ...says('declared_more_than_once', 'It is declared more than once: for Python the last one counts.'),
    ...says('strict_reading_open', 'What the supervisor reads of this form is not documented.'),
    ...says('annotation_without_value', 'An annotation without a value declares nothing, and makes a required field.'),
    ...says('set_on_instance', 'It is set on self: Gym asks the class and does not see that.'),
    ...(setAgain === undefined ? [] : ['It is set again outside of the class, which the supervisor does not read.']),
  ];
}

/** Where they differ, what each of the three readings finds. */
function threeReadings(server: ServerClass): string[] {
  const reads = supervisorOf(server);
  const isStarted = server.startCalls.length > 0;
  const values: ReadonlySet<string> = new Set([
    server.tree.value,
    server.sameFile.value,
    ...(isStarted ? [reads === 'nothing' ? asRead(server.tree.value) : reads] : []),
  ]);
  if (values.size === 1) {
    return [];
  }
  return [
    'Three readings:',
    `- the supervisor, from the body of the class alone: ${isStarted ? reads : 'does not look, as the file does not start it'}`,
    `- with the bases in this file: ${readingWords(server.sameFile)}`,
    `- with imports followed: ${readingWords(server.tree)}`,
  ];
}

/** Of what is not declared or cannot be read, nothing is what the supervisor should find: there is no difference. */
function asRead(value: FlagValue): string {
  return value === 'on' || value === 'off' ? 'nothing' : value;
}

function aboutSupervisor(server: ServerClass): string[] {
  const { value } = server.tree;
  const reads = supervisorOf(server);
  if (server.startCalls.length === 0 || (reads === value && !isPydanticField(server))) {
    return [];
  }
  if (reads === 'on') {
    return ['The supervisor reads True and starts Ray for this server.', VERSIONS];
  }
  if (reads === 'off') {
    const trouble =
      value === 'off' ? '' : ' It may start no cluster, and a server that then asks for one does not find it.';
    return [`The supervisor reads False.${trouble}`, VERSIONS];
  }
  return [`${whyNotRead(server)} Whether it then starts a cluster is not known: write the value here.`, VERSIONS];
}

function whyNotRead(server: ServerClass): string {
  const [call] = server.startCalls;
  if (!server.isTopLevel) {
    return 'The supervisor sees only classes at the top level of the file.';
  }
  if (call?.throughAlias) {
    return `The supervisor does not follow ${call.receiver} to this class: it looks for NAME.run_webserver() with the name of a class.`;
  }
  return 'The supervisor reads only a plain True or False that stands in the body of this class itself.';
}
