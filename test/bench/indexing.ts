import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { diskFiles } from '../../src/cli/diskFiles';
import { createReaderThreads } from '../../src/gym/readerThreads';
import { createServerIndex } from '../../src/gym/serverIndex';

const ROUNDS = 5;

/** Parses every Python file below a folder, or only those that speak of servers, and prints the seconds. */
const AST = `
import ast, pathlib, sys, time, warnings
warnings.simplefilter("ignore")
words = [word.encode() for word in sys.argv[2:]]
start = time.perf_counter()
for path in pathlib.Path(sys.argv[1]).rglob("*.py"):
    source = path.read_bytes()
    if not words or any(word in source for word in words):
        try:
            ast.parse(source)
        except (SyntaxError, ValueError):
            pass
print(time.perf_counter() - start)
`;

/**
 * How long the index of a whole tree takes, imports followed, beside Python's own parser over the same files, in turns.
 *
 * @param grammar the folder with the grammar
 * @param tree the folder with the files
 */
export async function benchIndexing(grammar: string, tree: string, python: string): Promise<void> {
  const ast = async (...words: string[]): Promise<number> =>
    Number((await promisify(execFile)(python, ['-c', AST, tree, ...words])).stdout);
  const rounds: { index: number; all: number; filtered: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const index = await buildIndex(grammar, tree);
    rounds.push({ index, all: await ast(), filtered: await ast('ray_enabled', 'run_webserver') });
  }
  const ratios = (of: 'all' | 'filtered'): string =>
    `median ${median(rounds.map((round) => round.index / round[of])).toFixed(2)}, first ${rounds.map((round) => round.index / round[of])[0]?.toFixed(2)}`;
  console.log(`\nIndex of ${tree}`);
  console.log(`  the index                        ${median(rounds.map(({ index }) => index)).toFixed(2)} s`);
  console.log(
    `  to ast.parse of every file       ${median(rounds.map(({ all }) => all)).toFixed(2)} s, ratio ${ratios('all')}`,
  );
  console.log(
    `  to ast.parse behind a filter     ${median(rounds.map(({ filtered }) => filtered)).toFixed(2)} s, ratio ${ratios('filtered')}`,
  );
}

/** In seconds, with threads that are started anew and load the grammar. */
async function buildIndex(grammar: string, tree: string): Promise<number> {
  const program = join(process.cwd(), 'out', 'src', 'gym', 'readerWorker.cjs');
  const readers = createReaderThreads({ program, wasmFolder: grammar });
  const index = createServerIndex({
    files: diskFiles,
    read: readers.read,
    roots: () => [tree],
    installed: () => [],
    onError: (message) => console.error(message),
  });
  const start = performance.now();
  await index.build();
  const seconds = (performance.now() - start) / 1000;
  index.dispose();
  readers.dispose();
  return seconds;
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
