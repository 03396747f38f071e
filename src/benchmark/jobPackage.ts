import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { type AsyncZippable, zip } from 'fflate';
import { formatBytes } from '../common/formatBytes';
import { UserError } from '../common/userError';
import { type PackageFiles, packageFilesOf } from './packageFiles';

/** Ray's own limit for an uploaded package, in bytes. */
const LIMIT = 100 * 1024 * 1024;

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
  /** Folder with the answers of an earlier run that goes on, when the driver does not find them where it writes. */
  readonly earlier?: string | undefined;
}): Promise<Uint8Array> {
  const files: AsyncZippable = { 'request.json': new TextEncoder().encode(options.request) };
  const driver = join(options.driverFolder, DRIVER_MODULE);
  for (const path of await filesBelow(driver)) {
    files[`${DRIVER_MODULE}/${slashes(relative(driver, path))}`] = new Uint8Array(await readFile(path));
  }
  if (options.own) {
    const packed = await packageFilesOf(options.own.file);
    const refusal = tooLarge(packed);
    if (refusal !== undefined) {
      throw new UserError(refusal);
    }
    for (const path of packed.files) {
      files[`benchmark/${slashes(relative(packed.folder, path))}`] = new Uint8Array(await readFile(path));
    }
  }
  if (options.earlier !== undefined) {
    for (const name of await readdir(options.earlier).catch(() => [])) {
      files[`earlier/answers/${name}`] = new Uint8Array(await readFile(join(options.earlier, name)));
    }
  }
  return await zipAsync(files);
}

/** The driver's own files; bytecode of another Python is of no use. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && basename(entry.parentPath) !== '__pycache__')
    .map((entry) => join(entry.parentPath, entry.name));
}

/**
 * The sentence that says why a benchmark's folder cannot be sent; undefined when it can.
 */
export function tooLarge({ folder, bytes, largest }: PackageFiles): string | undefined {
  if (bytes <= LIMIT) {
    return undefined;
  }
  const named = largest.map((part) => `${part.name} (${formatBytes(part.bytes)})`).join(', ');
  return (
    `The benchmark's folder ${folder} holds ${formatBytes(bytes)}, and Ray takes at most ${formatBytes(LIMIT)}. ` +
    `Move the benchmark into a folder of its own, or name what it does not need in a .rayignore file. The largest in it: ${named}.`
  );
}

function slashes(path: string): string {
  return path.split(sep).join('/');
}
