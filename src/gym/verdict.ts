import type { Composition, ConfiguredServer } from './composition';
import type { ServerFile } from './serverFile';
import { flagOf, type ServerFlag } from './serverFlag';

/** How the nemo-gym at hand treats the flag: 0.7 starts Ray whatever the servers say, a later one reads them first. */
export type GymVersion = 'before 0.7' | '0.7' | 'later' | 'unknown';

/** The file that an entrypoint means. */
export interface FoundServer {
  readonly path: string;
  /** False when its folder has neither `requirements.txt` nor `pyproject.toml`: Gym does not count it as a server's. */
  readonly isMarked: boolean;
  /** Undefined when the file cannot be read. */
  readonly file: ServerFile | undefined;
}

/** A server of a configuration, with what it says about Ray. */
export interface ConfiguredFlag extends ConfiguredServer {
  /** Undefined when there is none. */
  readonly path: string | undefined;
  readonly file: ServerFile | undefined;
  readonly flag: ServerFlag | 'missing';
  /** Why the supervisor cannot settle it, the end of a sentence about the server's file; undefined when it can. */
  readonly reason: string | undefined;
}

/** Whether a configuration needs Ray, as Gym's supervisor settles it from the sources of its servers. */
export interface Verdict {
  readonly startsRay: 'yes' | 'no' | 'unsettled';
  /** Everything that the configuration starts, in Gym's order. */
  readonly servers: readonly ConfiguredFlag[];
  /** The servers that make it so; none for `no`. */
  readonly because: readonly ConfiguredFlag[];
  /** Why Gym refuses the configuration as it stands, each a sentence. */
  readonly problems: readonly string[];
}

/**
 * The verdict: a server that is on makes it yes, else one that cannot be settled leaves it open, and so does a configuration
 * that is not whole; only when all are off it is no.
 *
 * @param found for each server of the composition, in their order, the file that it means.
 */
export function verdictOf(composition: Composition, found: readonly (FoundServer | undefined)[]): Verdict {
  const servers = composition.servers.map((server, index) => configuredFlag(server, found[index]));
  const { problems } = composition;
  const on = servers.filter(({ flag }) => flag === 'on');
  if (on.length > 0) {
    return { startsRay: 'yes', servers, because: on, problems };
  }
  const open = servers.filter(({ flag }) => flag !== 'off');
  const isSettled = open.length === 0 && problems.length === 0;
  return { startsRay: isSettled ? 'no' : 'unsettled', servers, because: open, problems };
}

function configuredFlag(server: ConfiguredServer, found: FoundServer | undefined): ConfiguredFlag {
  const place = { ...server, path: found?.path, file: found?.file };
  if (server.entrypoint === undefined) {
    return { ...place, flag: 'missing', reason: 'its entrypoint is known only when Gym runs' };
  }
  if (!found?.file) {
    const path = `${server.kind}/${server.name}/${server.entrypoint}`;
    return { ...place, flag: 'missing', reason: found ? `${path} cannot be read` : `${path} is not found` };
  }
  if (!found.isMarked) {
    const reason = 'its folder has neither requirements.txt nor pyproject.toml, without which Gym passes it over';
    return { ...place, flag: 'unreadable', reason };
  }
  return { ...place, ...flagOf(found.file) };
}

/** A verdict in words: one line, and the sentences behind it. */
export interface VerdictWords {
  readonly title: string;
  readonly details: readonly string[];
}

/** Says a verdict, and what the Gym at hand makes of it. */
export function verdictWords(verdict: Verdict, version: GymVersion): VerdictWords {
  return { title: titleOf(verdict, version), details: [...reasonsOf(verdict), ...versionNote(verdict, version)] };
}

function titleOf(verdict: Verdict, version: GymVersion): string {
  const because = listed([...new Set(verdict.because.map(({ instance }) => instance))]);
  switch (verdict.startsRay) {
    case 'yes':
      return `Starts Ray: yes (because of ${because})`;
    case 'unsettled':
      return `Starts Ray: cannot be settled (because of ${because || 'the configuration itself'})`;
    case 'no':
      return version === '0.7' ? 'Starts Ray: no server asks for it, but Gym 0.7 starts it anyway' : 'Starts Ray: no';
  }
}

function reasonsOf({ startsRay, servers, because, problems }: Verdict): string[] {
  if (startsRay === 'yes') {
    return [...because.map(({ instance, path }) => `${instance}: ray_enabled is True in ${path ?? ''}.`), ...problems];
  }
  if (startsRay === 'no') {
    return [
      servers.length === 0 ? 'It starts no server.' : 'Every server that it starts declares ray_enabled = False.',
    ];
  }
  return [...problems, ...because.map(({ instance, reason }) => `${instance}: ${reason ?? ''}.`)];
}

function versionNote({ startsRay }: Verdict, version: GymVersion): string[] {
  switch (version) {
    case 'before 0.7':
      return ['The Gym of this environment is older than 0.7 and does not know ray_enabled.'];
    case 'later':
      return startsRay === 'unsettled' ? [] : ['Gym reads this from the sources of the servers before it starts them.'];
    case '0.7':
    case 'unknown':
      return ['Gym 0.7 starts or joins Ray for every configuration; a later one does what is said here.'];
  }
}

/** `a`, `a and b`, `a, b and 3 more`: a line has no room for all. */
function listed(names: readonly string[]): string {
  if (names.length <= 2) {
    return names.join(' and ');
  }
  return names.length === 3
    ? `${names[0]}, ${names[1]} and ${names[2]}`
    : `${names[0]}, ${names[1]} and ${names.length - 2} more`;
}
