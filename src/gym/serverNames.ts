import { isAscii } from 'node:buffer';
import { withoutLookalikes } from '../python/lookalikes';
import { decodeSource } from '../python/sourceText';
import { GYM_BASES } from './wellKnownBases';

/** A class and its bases as its header has them, found without parsing. */
export interface ClassHeader {
  readonly name: string;
  /** The last part of each dotted name in the brackets. */
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
const HEADER = /^[ \t]*class[ \t]+([^\s:([]+)[ \t]*(?:\[[^\n]*\][ \t]*)?\(([^)]*)\)/gm;
const NAME = /[^\s,()[\]=.*'"#:]+/g;

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

/** The headers of all classes with bases. A string that looks like one does no harm: the file is then parsed. */
export function headersIn(bytes: Uint8Array): ClassHeader[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.includes('class')) {
    return [];
  }
  return headersOf(isAscii(buffer) ? buffer.toString('latin1') : withoutLookalikes(decodeSource(bytes).text));
}

function headersOf(text: string): ClassHeader[] {
  return [...text.matchAll(HEADER)].map(([, name = '', bases = '']) => ({ name, bases: bases.match(NAME) ?? [] }));
}
