import type { SourceRange } from '../python/syntax';
import type { ServerFile } from './serverFile';

const TOP: SourceRange = { startLine: 0, startColumn: 0, endLine: 0, endColumn: 0 };

/** Where a file says what Gym makes of it: the declaration of the class that it starts, else the class, else the call. */
export function placeOf(file: ServerFile): SourceRange {
  const started = file.classes.filter((server) => server.starts);
  const decisive =
    started.find((server) => server.strict === 'on') ??
    started.find((server) => server.strict === 'unknown') ??
    started[0] ??
    file.classes[0];
  return decisive?.declaration ?? decisive?.nameRange ?? file.startCalls[0]?.range ?? TOP;
}

/** The names of what a file starts, each once. */
export function startedNames(file: ServerFile): string[] {
  return [
    ...new Set([
      ...file.classes.filter(({ starts }) => starts).map(({ name }) => name),
      ...file.startedElsewhere.filter(({ call }) => call.starts).map(({ call }) => call.receiver),
    ]),
  ];
}
