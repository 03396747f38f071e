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
/** Not from the beginning of its line: what begins with a word is found many times as fast. */
const CLASS = /\bclass(?:[ \t]|\\\r?\n)+([^\s\\:([]+)(?:[ \t]|\\\r?\n)*[([]/g;
const HEADER_END = /\)[\s\\]*:/g;
/** The bases of a longer header are at its front. */
const LONGEST_HEADER = 2000;
const NAME = /[^\s,()[\]=.*'"#:]+/g;
/** What `import Base as Other` has before the other name. */
const IMPORTED_AS = /([^\s,.(]+)[ \t]+as[ \t]+$/;
/** What `Other = Base` has behind the other name. */
const ASSIGNED = /[ \t]*(?::[^=\n]*)?=[ \t(]*(?:[^\s#=()."']+\.)*([^\s#=()."']+)[ \t)]*(?:#.*)?$/my;
const LONGEST_NAME = 200;

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
      return plain.includes(GYM_PACKAGE) || mayNameServers(plain) || headersIn(plain).some(isDerived);
    },
  };
}

/** A file as a text in which ASCII names can be searched: in whatever letters and encoding Python takes for those. */
export function searchableText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isAscii(buffer) ? buffer.toString('latin1') : withoutLookalikes(decodeSource(bytes).text);
}

/** Whether a searchable text speaks of the flag or of a start. */
export function mayNameServers(text: string): boolean {
  return WORDS.some((word) => text.includes(word));
}

/**
 * The headers of all classes with bases in a searchable text, and names that stand for a base. A string that looks like one
 * does no harm: the file is then parsed.
 */
export function headersIn(text: string): ClassHeader[] {
  const headers = [...text.matchAll(CLASS)].map((match) => {
    const start = match.index + match[0].length;
    HEADER_END.lastIndex = start;
    const end = Math.min(HEADER_END.exec(text)?.index ?? text.length, start + LONGEST_HEADER);
    return { name: match[1] ?? '', bases: text.slice(start, end).match(NAME) ?? [] };
  });
  const bases = new Set(headers.flatMap((header) => header.bases));
  return [...headers, ...[...bases].flatMap((base) => otherNamesOf(base, text))];
}

/** What a name stands for besides itself, by each place where it is imported or assigned. */
function otherNamesOf(name: string, text: string): ClassHeader[] {
  const found: ClassHeader[] = [];
  for (let index = text.indexOf(name); index >= 0; index = text.indexOf(name, index + name.length)) {
    const near = text.slice(Math.max(0, index - LONGEST_NAME), index);
    const before = near.slice(near.lastIndexOf('\n') + 1);
    ASSIGNED.lastIndex = index + name.length;
    const base = before.trim() === '' ? ASSIGNED.exec(text)?.[1] : IMPORTED_AS.exec(before)?.[1];
    if (base !== undefined) {
      found.push({ name, bases: [base] });
    }
  }
  return found;
}
