import type { FlagWarning } from '../gym/moduleFacts';
import type {
  FlagOrigin,
  FlagReading,
  FlagValue,
  ServerClass,
  StartedElsewhere,
  SupervisorReading,
} from '../gym/serverFile';

/** What Gym's supervisor reads, which is nothing where it does not look. */
export type SupervisorWords = 'on' | 'off' | 'nothing';

/** So that the line stays one line: an expression in the place of a base can be of any length. */
const LONGEST_NAME = 40;

/** Whether pydantic takes the declaration for a field: the class, which is what Gym asks, then does not have its value. */
export function isPydanticField({ tree, runs }: ServerClass): boolean {
  return (tree.value === 'on' || tree.value === 'off') && runs.value !== tree.value;
}

/** What the supervisor makes of a class: it follows neither aliases nor anything that is not at the top level. */
export function supervisorOf({ isTopLevel, startCalls, strict }: ServerClass): SupervisorWords {
  const isSeen = isTopLevel && startCalls.some(({ throughAlias }) => !throughAlias);
  return isSeen ? supervisorWords(strict) : 'nothing';
}

function supervisorWords(strict: SupervisorReading): SupervisorWords {
  return strict === 'unknown' ? 'nothing' : strict;
}

/** What stands above a class: the value that holds when the file runs, where it comes from, and what is odd about it. */
export function flagTitle(server: ServerClass, parses: boolean): string {
  const { value } = server.tree;
  if (isPydanticField(server) && parses) {
    return `Ray: ${value}? A pydantic field: Gym sees ${SEEN[server.runs.value]} at run time`;
  }
  return ['Ray: ', readingWords(server.tree), remark(server, parses)].join('');
}

const SEEN: Readonly<Record<FlagValue, string>> = {
  on: 'True',
  off: 'False',
  not_declared: 'None',
  unreadable: 'something else',
  unknown: 'something else',
};

function remark(server: ServerClass, parses: boolean): string {
  const { value } = server.tree;
  if (!parses) {
    return ', file does not parse';
  }
  const reads = supervisorOf(server);
  if (server.startCalls.length > 0 && reads !== value) {
    if (reads !== 'nothing') {
      return `, the supervisor reads ${reads}`;
    }
    if (value === 'on' || value === 'off') {
      return ', not read by the supervisor';
    }
  }
  const isPlain = value === 'on' || value === 'off';
  return isPlain && hasWarning(server.warnings, 'declared_more_than_once') ? ', declared more than once' : '';
}

/** What stands above a call that starts a class of another file. */
export function startedElsewhereTitle(elsewhere: StartedElsewhere, parses: boolean): string {
  const { call, tree } = elsewhere;
  const name = startedName(elsewhere);
  const purpose = call.starts ? '' : call.guard === 'fastapi' ? " for uvicorn's workers" : ' when it is imported';
  const isRead = tree.value !== 'on' && tree.value !== 'off';
  const end = !parses ? ', file does not parse' : isRead ? '' : ', not read by the supervisor';
  return `Starts ${name}${purpose}: Ray ${readingWords(tree, name)}${end}`;
}

/** The class itself, where it is imported under another name. */
export function startedName({ call }: StartedElsewhere): string {
  return (call.target.kind === 'import' ? call.target.path.at(-1) : undefined) ?? call.receiver;
}

/** Where and as what the file starts a class; undefined when it does not. */
export function startedTitle({ startCalls }: ServerClass): string | undefined {
  const call = startCalls.find(({ starts }) => starts) ?? startCalls[0];
  if (!call) {
    return undefined;
  }
  const plain = startCalls.some(({ starts, throughAlias }) => starts === call.starts && !throughAlias);
  const through = plain ? '' : ` through ${shortened(call.receiver)}`;
  const purpose = call.starts ? '' : call.guard === 'fastapi' ? " for uvicorn's workers" : ' when imported';
  return `Started here${through}${purpose}`;
}

/** A value and where it comes from. @param own the class that needs no name because the sentence has it already */
export function readingWords({ value, origin }: FlagReading, own?: string): string {
  return [valueWords(value), originWords(value, origin, own)].filter((part) => part !== '').join(', ');
}

function valueWords(value: FlagValue): string {
  switch (value) {
    case 'on':
    case 'off':
    case 'unknown':
      return value;
    case 'not_declared':
      return 'not declared';
    case 'unreadable':
      return 'not a plain True or False';
  }
}

function originWords(value: FlagValue, origin: FlagOrigin | undefined, own: string | undefined): string {
  if (!origin) {
    return '';
  }
  if (origin.kind === 'unresolved') {
    return value === 'unknown' ? unresolvedWords(origin.what, own === undefined) : '';
  }
  const { setAgainOnLine: line } = origin;
  const setAgain = line === undefined ? '' : `set again on line ${line + 1}`;
  if (origin.kind === 'own') {
    return setAgain;
  }
  // A base that says None says nothing that anybody would look for there.
  if (value === 'not_declared') {
    return '';
  }
  const { className, file } = origin;
  const name = shortened(className);
  const from = file === undefined ? name : className === own ? fileName(file) : `${name} in ${fileName(file)}`;
  // Which of the two files has that line, the reading does not say.
  const again = file === undefined || line === undefined ? setAgain : 'set again outside of it';
  return [`from ${from}`, again].filter((part) => part !== '').join(', ');
}

/** What could not be followed, in the words of the reading: a name or an import is missing, the rest is for itself. */
function unresolvedWords(what: string, isBase: boolean): string {
  const short = shortened(what);
  return /^[\p{L}\p{N}_.:]+$/u.test(what) ? `${isBase ? 'base ' : ''}${short} not found` : short;
}

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function hasWarning(warnings: ServerClass['warnings'], code: FlagWarning['code']): boolean {
  return warnings.some((warning) => warning.code === code);
}

function shortened(name: string): string {
  const characters = [...name.replace(/\s+/g, ' ').trim()];
  return characters.length <= LONGEST_NAME ? characters.join('') : `${characters.slice(0, LONGEST_NAME).join('')}…`;
}
