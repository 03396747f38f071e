import { createKeptTrees, type KeptTrees } from '../../src/gym/keptTrees';
import { readServerFile } from '../../src/gym/readings';
import type { PythonParser } from '../../src/python/parser';
import { seededRandom } from '../support/seededRandom';

const KEYSTROKES = 300;
const FULL_PARSES = 9;
const EDITS = 5_000;
const SETTLED_AFTER = 500;
const MADE_LINES = 50_000;

/**
 * What a keystroke costs: from the new text to the new readings, as a ratio to parsing the whole file with the same grammar.
 *
 * @param largest the text of the largest real server
 * @param grammarMemory tells the bytes that the grammar takes now
 */
export async function benchTyping(parser: PythonParser, largest: string, grammarMemory: () => number): Promise<void> {
  for (const [name, text] of [
    ['the largest server', largest],
    ['a made file', madeFile(largest)],
  ] as const) {
    console.log(`\nTyping in ${name} (${text.split('\n').length} lines)`);
    const full = median(await fullParses(parser, text));
    console.log(`  a full parse                     ${full.toFixed(1)} ms`);
    const random = seededRandom(7);
    const inWords = pick(wordPlaces(text), KEYSTROKES, random);
    report('a name or a value', await keystrokes(parser, text, inWords, 'q'), full);
    report('opening a quote', await keystrokes(parser, text, inWords.slice(0, 60), '"'), full);
    report('opening a bracket', await keystrokes(parser, text, inWords.slice(0, 60), '('), full);
  }
  await benchMemory(parser, largest, grammarMemory);
}

async function fullParses(parser: PythonParser, text: string): Promise<number[]> {
  const times: number[] = [];
  for (let run = 0; run < FULL_PARSES; run++) {
    const start = performance.now();
    const tree = await parser.parse(text);
    times.push(performance.now() - start);
    tree.delete();
  }
  return times;
}

/** Types one letter at each place and takes it back, each of which is a keystroke. */
async function keystrokes(
  parser: PythonParser,
  text: string,
  places: readonly number[],
  letter: string,
): Promise<number[]> {
  const trees = createKeptTrees(parser);
  const owner = {};
  await readings(trees, owner, text);
  const times: number[] = [];
  for (const place of places) {
    for (const next of [text.slice(0, place) + letter + text.slice(place), text]) {
      const start = performance.now();
      await readings(trees, owner, next);
      times.push(performance.now() - start);
    }
  }
  trees.dispose();
  return times;
}

async function readings(trees: KeptTrees, owner: object, text: string): Promise<void> {
  readServerFile('server.py', await trees.read(owner, text));
}

/** Places inside names and numbers: not in keywords, where a letter breaks more than a name. */
function wordPlaces(text: string): number[] {
  const keywords =
    /^(?:and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|not|or|pass|raise|return|try|while|with|yield)$/;
  return [...text.matchAll(/\b\w{4,}\b/g)].filter(([word]) => !keywords.test(word)).map(({ index }) => index + 2);
}

/** The same classes and functions under other names, until the file is as long as it has to be. */
function madeFile(text: string): string {
  const [library = text] = text.split(/^if __name__/m);
  const parts: string[] = [];
  const lines = library.split('\n').length;
  for (let copy = 0; copy * lines < MADE_LINES; copy++) {
    parts.push(library.replace(/^class (\w+)/gm, `class $1${copy}`));
  }
  return parts.join('\n');
}

async function benchMemory(parser: PythonParser, text: string, grammarMemory: () => number): Promise<void> {
  const trees = createKeptTrees(parser);
  const owner = {};
  const places = pick(wordPlaces(text), EDITS / 2, seededRandom(11));
  let settled = 0;
  for (const [index, place] of places.entries()) {
    // A letter, and the same letter taken back: two edits.
    await trees.read(owner, `${text.slice(0, place)}q${text.slice(place)}`);
    await trees.read(owner, text);
    if ((index + 1) * 2 === SETTLED_AFTER) {
      settled = grammarMemory();
    }
  }
  const growth = grammarMemory() - settled;
  trees.dispose();
  console.log(`\nMemory of the grammar after ${EDITS} edits: ${growth} bytes more than after ${SETTLED_AFTER}`);
}

function report(what: string, times: number[], full: number): void {
  const sorted = [...times].sort((one, other) => one - other);
  const [middle, late] = [median(times), sorted[Math.floor(sorted.length * 0.95)] ?? 0];
  console.log(
    `  ${what.padEnd(32)} median ${middle.toFixed(2)} ms, ratio ${(middle / full).toFixed(3)}; ` +
      `95th percentile ${late.toFixed(2)} ms, ratio ${(late / full).toFixed(3)}`,
  );
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

function pick<T>(values: readonly T[], count: number, random: () => number): T[] {
  return Array.from({ length: count }, () => values[Math.floor(random() * values.length)]).filter(
    (value) => value !== undefined,
  );
}
