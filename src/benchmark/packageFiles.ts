import { readdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { readFileIfThere } from '../common/files';

/** Never part of a benchmark, and often what makes a package too large. */
const NEVER_PACKED = new Set(['.git', '.venv', 'venv', 'node_modules', '__pycache__', 'shardboard-results', '.vscode']);

/** Ray's own command line reads these, in each folder that it packs. */
const IGNORE_FILES = ['.gitignore', '.rayignore'];

/** So many of the largest are named. */
const NAMED = 3;

/** What of a benchmark's folder goes into a job's package. */
export interface PackageFiles {
  readonly folder: string;
  /** Absolute paths. */
  readonly files: readonly string[];
  readonly bytes: number;
  /** The folders and files directly in it that weigh most, the heaviest first. */
  readonly largest: readonly { readonly name: string; readonly bytes: number }[];
  /** What is left out, relative to the folder; a folder stands for all in it. */
  readonly leftOut: readonly string[];
}

/** An ignore file, with the folder that its patterns are relative to. */
interface IgnoreRules {
  readonly folder: string;
  readonly rules: Ignore;
}

/** Finds out what travels with a benchmark: what lies beside its file, without what is ignored there. */
export async function packageFilesOf(benchmarkFile: string): Promise<PackageFiles> {
  const folder = dirname(benchmarkFile);
  const files: string[] = [];
  const leftOut: string[] = [];
  await walk(folder, []);

  const sizes = new Map<string, number>();
  for (const file of files) {
    const top = relative(folder, file).split(sep)[0] ?? '';
    sizes.set(top, (sizes.get(top) ?? 0) + (await stat(file)).size);
  }
  return {
    folder,
    files,
    bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0),
    largest: [...sizes]
      .map(([name, bytes]) => ({ name, bytes }))
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, NAMED),
    leftOut,
  };

  async function walk(current: string, outer: readonly IgnoreRules[]): Promise<void> {
    const rules = [...outer, ...(await rulesIn(current))];
    for (const entry of await readdir(current, { withFileTypes: true })) {
      const path = join(current, entry.name);
      // The benchmark's own file is wanted whatever an ignore file says.
      const isOut =
        path !== benchmarkFile && (NEVER_PACKED.has(entry.name) || isIgnored(path, entry.isDirectory(), rules));
      if (isOut) {
        leftOut.push(relative(folder, path));
      } else if (entry.isDirectory()) {
        await walk(path, rules);
      } else if (entry.isFile()) {
        files.push(path);
      }
    }
  }
}

async function rulesIn(folder: string): Promise<IgnoreRules[]> {
  const texts = await Promise.all(IGNORE_FILES.map((name) => readFileIfThere(join(folder, name))));
  return texts.flatMap((text) => (text === undefined ? [] : [{ folder, rules: ignore().add(text) }]));
}

function isIgnored(path: string, isFolder: boolean, rules: readonly IgnoreRules[]): boolean {
  return rules.some(({ folder, rules }) => {
    const below = relative(folder, path).split(sep).join('/');
    // A pattern that ends with a slash means folders alone.
    return rules.ignores(isFolder ? `${below}/` : below);
  });
}
