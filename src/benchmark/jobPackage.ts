import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { type AsyncZippable, zip } from 'fflate';
import { UserError } from '../common/userError';

/** Ray's own limit for an uploaded package, in bytes. */
const LIMIT = 100 * 1024 * 1024;

/** Never part of a benchmark, and often what makes a package too large. */
const LEFT_OUT = new Set(['.git', '.venv', 'venv', 'node_modules', '__pycache__', 'shardboard-results', '.vscode']);

const zipAsync = promisify<AsyncZippable, Uint8Array>(zip);

/** A benchmark file of the user's own and the name in it. */
export interface OwnBenchmark {
  readonly file: string;
  readonly name: string;
}

/** The driver's folder name inside the package; also the Python module that the job runs. */
export const DRIVER_MODULE = 'shardboard_driver';

/** How the driver is to name a benchmark that travels with it. */
export function packagedBenchmarkName(own: OwnBenchmark): string {
  // With the name after the colon: without it the evaluator fails in a reused worker (it finds "no new benchmarks").
  return `benchmark/${basename(own.file)}:${own.name}`;
}

/**
 * Packs what a run needs: the driver, the request, and the folder of the user's benchmark with all that lies beside it.
 *
 * @throws UserError when the package would be larger than Ray takes; names the largest folders.
 */
export async function buildJobPackage(options: {
  /** Folder that holds the driver's Python package. */
  readonly driverFolder: string;
  readonly request: string;
  readonly own: OwnBenchmark | undefined;
}): Promise<Uint8Array> {
  const files: AsyncZippable = { 'request.json': new TextEncoder().encode(options.request) };
  const driver = join(options.driverFolder, DRIVER_MODULE);
  for (const path of await filesBelow(driver)) {
    files[`${DRIVER_MODULE}/${slashes(relative(driver, path))}`] = new Uint8Array(await readFile(path));
  }
  if (options.own) {
    const folder = dirname(options.own.file);
    const paths = await filesBelow(folder);
    await refuseIfTooLarge(folder, paths);
    for (const path of paths) {
      files[`benchmark/${slashes(relative(folder, path))}`] = new Uint8Array(await readFile(path));
    }
  }
  return await zipAsync(files);
}

async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (LEFT_OUT.has(entry.name)) {
      continue;
    }
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      found.push(...(await filesBelow(path)));
    } else if (entry.isFile()) {
      found.push(path);
    }
  }
  return found;
}

async function refuseIfTooLarge(folder: string, paths: readonly string[]): Promise<void> {
  const sizes = new Map<string, number>();
  let total = 0;
  for (const path of paths) {
    const { size } = await stat(path);
    total += size;
    const top = relative(folder, path).split(sep)[0] ?? '';
    sizes.set(top, (sizes.get(top) ?? 0) + size);
  }
  if (total > LIMIT) {
    const largest = [...sizes].sort((a, b) => b[1] - a[1]).slice(0, 3);
    const named = largest.map(([name, size]) => `${name} (${megabytes(size)})`).join(', ');
    throw new UserError(
      `The benchmark's folder ${folder} holds ${megabytes(total)}, and Ray takes at most ${megabytes(LIMIT)}. ` +
        `Move the benchmark into a folder of its own. The largest in it: ${named}.`,
    );
  }
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}

function slashes(path: string): string {
  return path.split(sep).join('/');
}
