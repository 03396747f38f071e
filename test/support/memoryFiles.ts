import type { SourceFiles } from '../../src/gym/serverIndex';

/** Files that are only in memory, by their absolute paths. What is changed in the map is changed in the files. */
export function memoryFiles(contents: Map<string, string>): SourceFiles & { readonly reads: string[] } {
  const reads: string[] = [];
  return {
    reads,
    async read(path) {
      reads.push(path);
      const text = contents.get(path);
      return text === undefined ? undefined : Buffer.from(text);
    },
    async list(folder, signal) {
      signal.throwIfAborted();
      return [...contents.keys()].filter((path) => path.startsWith(`${folder}/`)).sort();
    },
  };
}
