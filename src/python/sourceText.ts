import { isAscii, isUtf8 } from 'node:buffer';

/** A Python file as text, with what its bytes were. */
export interface SourceText {
  /** Without a byte order mark, each line ending in `\n` or `\r\n`: lines and columns are those that VS Code counts. */
  readonly text: string;
  /** As Python's `tokenize.detect_encoding` names it: `utf-8`, `utf-8-sig`, `iso-8859-1`, or what the cookie says. */
  readonly encoding: string;
  readonly bom: boolean;
  readonly lineEnding: 'none' | 'lf' | 'crlf' | 'cr' | 'mixed';
  /**
   * Why Python refuses to run the file; undefined when it does not. The text is then as good as it can be made:
   * - `not_utf8`: no encoding is declared, and it is not UTF-8;
   * - `not_in_encoding`: it is not in the encoding that it declares;
   * - `unknown_encoding`: it declares one that nobody knows, or one that contradicts its byte order mark;
   * - `null_byte`: it holds one.
   */
  readonly rejection: 'not_utf8' | 'not_in_encoding' | 'unknown_encoding' | 'null_byte' | undefined;
}

/** Turns the bytes of a Python file into text by the rules of PEP 263. Bytes that fit nothing become U+FFFD. */
export function decodeSource(bytes: Uint8Array): SourceText {
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const content = Buffer.from(bytes.buffer, bytes.byteOffset + (bom ? 3 : 0), bytes.byteLength - (bom ? 3 : 0));
  const cookie = encodingCookie(content);
  const encoding = cookie === undefined ? 'utf-8' : pythonName(cookie);
  const { text, rejection } = decode(content, encoding, cookie !== undefined, bom);
  return {
    // Python and VS Code end a line at a lone carriage return; the grammar does not.
    text: text.includes('\r') ? text.replace(/\r(?!\n)/g, '\n') : text,
    encoding: bom && encoding === 'utf-8' ? 'utf-8-sig' : encoding,
    bom,
    lineEnding: lineEndingOf(text),
    rejection: rejection ?? (content.includes(0) ? 'null_byte' : undefined),
  };
}

/** Enough for two lines with a cookie; a longer first line is no comment with a cookie that anybody wrote. */
const HEAD_LENGTH = 4096;
const COOKIE = /^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)/;
const BLANK_OR_COMMENT = /^[ \t\f]*(?:#|$)/;

/** What the first or second line declares. The second one counts only when the first holds no code. */
function encodingCookie(content: Buffer): string | undefined {
  const head = content.subarray(0, HEAD_LENGTH);
  if (!head.includes('coding')) {
    return undefined;
  }
  const [first = '', second = ''] = head.toString('latin1').split(/\r\n|\r|\n/, 2);
  return COOKIE.exec(first)?.[1] ?? (BLANK_OR_COMMENT.test(first) ? COOKIE.exec(second)?.[1] : undefined);
}

/** Python's `tokenize` knows these two families by one name each, and leaves every other name as it is written. */
function pythonName(cookie: string): string {
  const name = cookie.slice(0, 12).toLowerCase().replaceAll('_', '-');
  if (name === 'utf-8' || name.startsWith('utf-8-')) {
    return 'utf-8';
  }
  return /^(?:latin-1|iso-8859-1|iso-latin-1)(?:-|$)/.test(name) ? 'iso-8859-1' : cookie;
}

type Decoded = Pick<SourceText, 'text' | 'rejection'>;

function decode(content: Buffer, encoding: string, isDeclared: boolean, bom: boolean): Decoded {
  if (encoding !== 'utf-8' && bom) {
    return { text: content.toString('utf8'), rejection: 'unknown_encoding' };
  }
  const codec = codecFor(encoding);
  if (isAscii(content) && codec !== undefined && codec !== 'iso-2022-jp') {
    return { text: content.toString('latin1'), rejection: undefined };
  }
  switch (codec) {
    case 'utf-8': {
      const rejection = isUtf8(content) ? undefined : isDeclared ? 'not_in_encoding' : 'not_utf8';
      return { text: content.toString('utf8'), rejection };
    }
    case 'ascii':
      return { text: content.toString('latin1'), rejection: 'not_in_encoding' };
    case 'latin1':
      return { text: content.toString('latin1'), rejection: undefined };
    case 'windows-1252':
      return decodeWindows1252(content);
    case undefined:
      return { text: content.toString('latin1'), rejection: 'unknown_encoding' };
    default:
      return decodeAs(content, codec);
  }
}

function decodeAs(content: Buffer, label: string): Decoded {
  try {
    return { text: new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(content), rejection: undefined };
  } catch {
    return { text: new TextDecoder(label).decode(content), rejection: 'not_in_encoding' };
  }
}

/** The letters of 0x80 to 0x9f; U+FFFD where there is none. */
const WINDOWS_1252 = '€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ';

/** By hand: Node 20's own decoder takes it for Latin-1. */
function decodeWindows1252(content: Buffer): Decoded {
  const text = content
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (letter) => WINDOWS_1252.charAt(letter.charCodeAt(0) - 0x80));
  return { text, rejection: text.includes('\ufffd') ? 'not_in_encoding' : undefined };
}

/** Python's names that the web's encodings have under another, or in another meaning: there, `latin1` is windows-1252. */
const CODECS: Readonly<Record<string, string>> = {
  utf8: 'utf-8',
  u8: 'utf-8',
  utf: 'utf-8',
  ascii: 'ascii',
  usascii: 'ascii',
  '646': 'ascii',
  iso88591: 'latin1',
  latin: 'latin1',
  latin1: 'latin1',
  l1: 'latin1',
  '8859': 'latin1',
  cp819: 'latin1',
  cp932: 'shift_jis',
  ms932: 'shift_jis',
  sjis: 'shift_jis',
  shiftjis: 'shift_jis',
  cp936: 'gbk',
  ms936: 'gbk',
  gb2312: 'gbk',
  euccn: 'gbk',
  cp949: 'euc-kr',
  uhc: 'euc-kr',
  euckr: 'euc-kr',
  eucjp: 'euc-jp',
  ujis: 'euc-jp',
  cp950: 'big5',
  big5hkscs: 'big5',
  koi8r: 'koi8-r',
  koi8u: 'koi8-u',
  cp866: 'ibm866',
  macroman: 'macintosh',
  maccyrillic: 'x-mac-cyrillic',
  tis620: 'windows-874',
  cp874: 'windows-874',
  iso2022jp: 'iso-2022-jp',
};

/**
 * Code pages of DOS that only Python knows: ASCII, and one byte for each other letter. As Latin-1 they have the right
 * columns and the wrong accents.
 */
const DOS_CODE_PAGE = /^(?:cp|ibm)?(?:437|720|737|775|850|852|855|857|858|860|861|862|863|864|865|869|1125)$/;

/** A name for {@link TextDecoder}, or one of `utf-8`, `ascii` and `latin1`; undefined for what nobody knows. */
function codecFor(encoding: string): string | undefined {
  const name = encoding.toLowerCase().replace(/[-_. ]/g, '');
  const known = CODECS[name] ?? (DOS_CODE_PAGE.test(name) ? 'latin1' : undefined);
  if (known !== undefined) {
    return known;
  }
  // An encoding that is not a superset of ASCII cannot declare itself.
  if (/^(?:utf|ucs|u16|u32)/.test(name)) {
    return undefined;
  }
  const codePage = /^(?:cp|windows)(125\d)$/.exec(name)?.[1];
  const part = /^iso8859(\d+)$/.exec(name)?.[1];
  const label = codePage
    ? `windows-${codePage}`
    : part
      ? `iso-8859-${part}`
      : encoding.toLowerCase().replaceAll('_', '-');
  try {
    new TextDecoder(label);
    return label;
  } catch {
    return undefined;
  }
}

function lineEndingOf(text: string): SourceText['lineEnding'] {
  if (!text.includes('\r')) {
    return text.includes('\n') ? 'lf' : 'none';
  }
  const found = new Set(text.match(/\r\n|\r|\n/g));
  const [only] = found;
  return found.size > 1 ? 'mixed' : only === '\r\n' ? 'crlf' : 'cr';
}
