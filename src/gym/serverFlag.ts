import type { ServerClass, ServerFile } from './serverFile';

/** What a server file says about Ray, as Gym's supervisor takes it: `undeclared` and `unreadable` it cannot settle. */
export type ServerFlag = 'on' | 'off' | 'undeclared' | 'unreadable';

/** What a flag is called for people. */
export const FLAG_WORDS: Readonly<Record<ServerFlag | 'missing', string>> = {
  on: 'on',
  off: 'off',
  undeclared: 'not declared',
  unreadable: 'cannot be read',
  missing: 'file not found',
};

export interface ServerFlagReading {
  readonly flag: ServerFlag;
  /** Why the supervisor cannot settle it, the end of a sentence about the file; undefined when it can. */
  readonly reason: string | undefined;
}

/** The flag of a whole file: of all that it starts, as the supervisor reads it, and where it cannot, why. */
export function flagOf(file: ServerFile): ServerFlagReading {
  if (file.entrypoint.strict !== 'unknown') {
    return { flag: file.entrypoint.strict, reason: undefined };
  }
  if (!file.parses) {
    return { flag: 'unreadable', reason: 'it is not valid Python' };
  }
  const elsewhere = file.startedElsewhere.find(({ call }) => call.starts);
  if (elsewhere) {
    return {
      flag: elsewhere.tree.value === 'not_declared' ? 'undeclared' : 'unreadable',
      reason: `it starts ${elsewhere.call.receiver}, a class of another file, which Gym does not follow`,
    };
  }
  const started = file.classes.filter((server) => server.starts);
  const [first] = started;
  if (!first) {
    return { flag: 'unreadable', reason: 'it has no call NAME.run_webserver() that Gym could read' };
  }
  const open = started.filter((server) => server.strict === 'unknown');
  if (open.length === 0) {
    // Each says it plainly, but the calls do not lead Gym to it.
    return { flag: 'unreadable', reason: reasonOf(first) };
  }
  const unreadable = open.find((server) => server.tree.value !== 'not_declared');
  return unreadable
    ? { flag: 'unreadable', reason: reasonOf(unreadable) }
    : { flag: 'undeclared', reason: `${open.map(({ name }) => name).join(', ')} does not declare ray_enabled` };
}

function reasonOf(server: ServerClass): string {
  const { origin, value } = server.tree;
  if (origin?.kind === 'base' && (value === 'on' || value === 'off')) {
    return `${server.name} inherits ray_enabled from ${origin.className}, and Gym reads only what stands in the class itself`;
  }
  if (origin?.kind === 'unresolved') {
    return `${server.name} comes from ${origin.what}, which is not found`;
  }
  if (server.startCalls.some((call) => call.throughAlias)) {
    return `${server.name} is started through another name, which Gym does not follow`;
  }
  if (!server.isTopLevel) {
    return `${server.name} does not stand at the top level of the file`;
  }
  return `ray_enabled of ${server.name} is not a plain True or False in the class itself`;
}
