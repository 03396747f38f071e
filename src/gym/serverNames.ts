import { isAscii } from 'node:buffer';
import { withoutLookalikes } from '../python/lookalikes';
import { decodeSource } from '../python/sourceText';
import { GYM_BASES } from './wellKnownBases';

/** A class and its bases as its header has them, found without parsing. */
export interface ClassHeader {
  readonly name: string;
  /** Every name in the brackets, and each part of a dotted one. */
  readonly bases: readonly string[];
}

/** The names of the classes that servers are made from in this workspace: Gym's own, and those that come from them. */
export interface ServerNames {
  add(names: readonly string[]): void;
  count(): number;
  isDerived(header: ClassHeader): boolean;
  /** Whether it is worth parsing a text for servers. */
  mayHold(text: string): boolean;
}

const WORDS = ['ray_enabled', 'run_webserver'];
const GYM_PACKAGE = 'nemo_gym';
const CLASS = /^[ \t]*class(?:[ \t]|\\\r?\n)+([^\s\\:([]+)(?:[ \t]|\\\r?\n)*[([]/gm;
const HEADER_END = /\)[\s\\]*:/g;
/** The bases of a longer header are at its front. */
const LONGEST_HEADER = 2000;
const NAME = /[^\s,()[\]=.*'"#:]+/g;
/** `import Base as Other` and `Other = Base`. */
const IMPORTED_AS = /[ \t]as[ \t]+([^\s,)]+)/g;
const LAST_NAME = /([^\s,.(]+)[ \t]*$/;
const LONGEST_NAME = 200;
const ASSIGNED =
  /^[ \t]*([^\s#:=.([]+)[ \t]*(?::[^=\n]*)?=[ \t(]*(?:[^\s#=()."']+\.)*([^\s#=()."']+)[ \t)]*(?:#.*)?$/gm;

export function createServerNames(): ServerNames {
  const names = new Set(GYM_BASES);
  const isDerived = ({ bases }: ClassHeader): boolean => bases.some((base) => names.has(base));
  return {
    add(more) {
      for (const name of more) {
        names.add(name);
      }
    },
    count: () => names.size,
    isDerived,
    mayHold(text) {
      const plain = withoutLookalikes(text);
      return (
        plain.includes(GYM_PACKAGE) || WORDS.some((word) => plain.includes(word)) || headersOf(plain).some(isDerived)
      );
    },
  };
}

/** Whether a file speaks of the flag or of a start: in whatever letters Python takes for those. */
export function mayNameServers(bytes: Uint8Array): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (WORDS.some((word) => buffer.includes(word))) {
    return true;
  }
  // Lookalikes are never ASCII, and neither is a text in an encoding that hides the words.
  return !isAscii(buffer) && WORDS.some((word) => withoutLookalikes(decodeSource(bytes).text).includes(word));
}

/**
 * The headers of all classes with bases, and names that stand for a base. A string that looks like one does no harm: the file
 * is then parsed.
 */
export function headersIn(bytes: Uint8Array): ClassHeader[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.includes('class')) {
    return [];
  }
  return headersOf(isAscii(buffer) ? buffer.toString('latin1') : withoutLookalikes(decodeSource(bytes).text));
}

function headersOf(text: string): ClassHeader[] {
  const headers = [...text.matchAll(CLASS)].map((match) => {
    const start = match.index + match[0].length;
    HEADER_END.lastIndex = start;
    const end = Math.min(HEADER_END.exec(text)?.index ?? text.length, start + LONGEST_HEADER);
    return { name: match[1] ?? '', bases: text.slice(start, end).match(NAME) ?? [] };
  });
  const bases = new Set(headers.flatMap((header) => header.bases));
  return bases.size === 0 ? [] : [...headers, ...otherNamesOf(text, bases)];
}

function otherNamesOf(text: string, bases: ReadonlySet<string>): ClassHeader[] {
  const pairs = [
    // What stands before it is looked at only where the name after it matters: from the front, each word would be tried.
    ...[...text.matchAll(IMPORTED_AS)].map(({ 1: name = '', index }) => ({
      name,
      base: bases.has(name) ? (text.slice(Math.max(0, index - LONGEST_NAME), index).match(LAST_NAME)?.[1] ?? '') : '',
    })),
    ...[...text.matchAll(ASSIGNED)].map(([, name = '', base = '']) => ({ name, base })),
  ];
  return pairs.filter(({ name }) => bases.has(name)).map(({ name, base }) => ({ name, bases: [base] }));
}
