import type { Configuration } from '../gym/configuration';
import { FLAG_WORDS } from '../gym/serverFlag';
import { placeOf } from '../gym/serverPlace';
import { type ConfiguredFlag, type GymVersion, type Verdict, verdictWords } from '../gym/verdict';
import type { SourceRange } from '../python/syntax';

/** A code lens on a configuration before VS Code. */
export interface ConfigurationLens {
  readonly range: SourceRange;
  readonly title: string;
  readonly tooltip: string;
  /** What a click opens: one place in a server's file, or a choice of the servers with these names of instances; or does. */
  readonly action?:
    | { readonly path: string; readonly reveal: SourceRange }
    | { readonly instances: readonly string[] }
    | { readonly command: 'shardboard.runServer' | 'shardboard.stopServer' };
}

const TOP: SourceRange = { startLine: 0, startColumn: 0, endLine: 0, endColumn: 0 };

/**
 * The lenses of a configuration: at its top the verdict and what runs or stops it, and on each of its own servers what that one
 * says.
 */
export function describeConfigurationLenses(
  configuration: Configuration,
  verdict: Verdict,
  version: GymVersion,
  run: 'running' | 'ended' | 'not possible',
): ConfigurationLens[] {
  const own = configuration.instances.flatMap((instance) => {
    const server = verdict.servers.find((candidate) => candidate.instance === instance.name);
    return server ? [serverLens(server, instance.entrypoint?.range ?? instance.range)] : [];
  });
  // One that only names other files need not be of Gym.
  if (configuration.instances.length === 0 && verdict.servers.length === 0) {
    return [];
  }
  return [
    verdictLens(verdict, version),
    ...(verdict.servers.length > 0 && run !== 'not possible' ? [runLens(run)] : []),
    ...own,
  ];
}

function verdictLens(verdict: Verdict, version: GymVersion): ConfigurationLens {
  const { title, details } = verdictWords(verdict, version);
  const reasons = verdict.because.length > 0 ? verdict.because : verdict.servers;
  return {
    range: TOP,
    title,
    tooltip: details.join('\n'),
    ...(reasons.length > 0 ? { action: { instances: reasons.map(({ instance }) => instance) } } : {}),
  };
}

function runLens(run: 'running' | 'ended'): ConfigurationLens {
  return run === 'running'
    ? {
        range: TOP,
        title: 'Stop Gym',
        tooltip: 'Interrupt Gym, which ends its servers',
        action: { command: 'shardboard.stopServer' },
      }
    : {
        range: TOP,
        title: 'Run with Gym',
        tooltip: 'Start these servers with gym env start',
        action: { command: 'shardboard.runServer' },
      };
}

function serverLens({ flag, reason, path, file }: ConfiguredFlag, range: SourceRange): ConfigurationLens {
  return {
    range,
    title: `Ray: ${FLAG_WORDS[flag]}`,
    tooltip: reason === undefined ? `ray_enabled is ${flag === 'on' ? 'True' : 'False'}.` : sentence(reason),
    ...(path !== undefined && file ? { action: { path, reveal: placeOf(file) } } : {}),
  };
}

/** The end of a sentence, made a whole one. */
export function sentence(end: string): string {
  return `Gym cannot settle it: ${end}.`;
}
