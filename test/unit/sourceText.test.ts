import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withoutLookalikes } from '../../src/python/lookalikes';
import { decodeSource } from '../../src/python/sourceText';

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

/** As Python's `tokenize.detect_encoding` and `compile` answer for the same bytes. */
const CASES: readonly [string, Uint8Array, { text: string; encoding: string; rejection?: string }][] = [
  ['plain text', bytes('x = 1\n'), { text: 'x = 1\n', encoding: 'utf-8' }],
  ['UTF-8', bytes('x = "é😀"\n'), { text: 'x = "é😀"\n', encoding: 'utf-8' }],
  ['a byte order mark', bytes([0xef, 0xbb, 0xbf], 'x\n'), { text: 'x\n', encoding: 'utf-8-sig' }],
  [
    'a byte order mark with another encoding',
    bytes([0xef, 0xbb, 0xbf], '# coding: cp1252\nx\n'),
    { text: '# coding: cp1252\nx\n', encoding: 'cp1252', rejection: 'unknown_encoding' },
  ],
  [
    'a byte order mark with its own name',
    bytes([0xef, 0xbb, 0xbf], '# coding: UTF_8\n'),
    { text: '# coding: UTF_8\n', encoding: 'utf-8-sig' },
  ],
  [
    'Latin-1, where the web means windows-1252',
    bytes('# -*- coding: latin-1 -*-\n"', [0xe9, 0x80], '"'),
    { text: '# -*- coding: latin-1 -*-\n"é\u0080"', encoding: 'iso-8859-1' },
  ],
  ['windows-1252', bytes('# coding=cp1252\n', [0x80]), { text: '# coding=cp1252\n€', encoding: 'cp1252' }],
  [
    'Shift JIS on the second line',
    bytes('#!/usr/bin/python\n# vim: set fileencoding=shift_jis :\n"', [0x82, 0xa0], '"'),
    { text: '#!/usr/bin/python\n# vim: set fileencoding=shift_jis :\n"あ"', encoding: 'shift_jis' },
  ],
  ['GBK', bytes('# coding: gbk\n', [0xc4, 0xe3]), { text: '# coding: gbk\n你', encoding: 'gbk' }],
  ['KOI8-R', bytes('# coding: koi8_r\n', [0xc1]), { text: '# coding: koi8_r\nа', encoding: 'koi8_r' }],
  [
    'a part of ISO 8859',
    bytes('# coding: iso8859_15\n', [0xa4]),
    { text: '# coding: iso8859_15\n€', encoding: 'iso8859_15' },
  ],
  [
    'a code page that only Python knows',
    bytes('# coding: cp437\n', [0x81]),
    { text: '# coding: cp437\n\u0081', encoding: 'cp437' },
  ],
  [
    'no encoding, not UTF-8',
    bytes('# ', [0xe9], '\n'),
    { text: '# \ufffd\n', encoding: 'utf-8', rejection: 'not_utf8' },
  ],
  [
    'not the encoding that is declared',
    bytes('# coding: ascii\n', [0xe9]),
    { text: '# coding: ascii\né', encoding: 'ascii', rejection: 'not_in_encoding' },
  ],
  [
    'not the UTF-8 that is declared',
    bytes('# coding: utf_8\n', [0xe9]),
    { text: '# coding: utf_8\n\ufffd', encoding: 'utf-8', rejection: 'not_in_encoding' },
  ],
  [
    'an unknown encoding',
    bytes('# coding: klingon\nx'),
    { text: '# coding: klingon\nx', encoding: 'klingon', rejection: 'unknown_encoding' },
  ],
  [
    'a cookie below code',
    bytes('x = 1\n# coding: ascii\n', [0xc3, 0xa9]),
    { text: 'x = 1\n# coding: ascii\né', encoding: 'utf-8' },
  ],
  [
    'a cookie on the third line',
    bytes('\n\n# coding: ascii\n', [0xc3, 0xa9]),
    { text: '\n\n# coding: ascii\né', encoding: 'utf-8' },
  ],
  [
    'a cookie in a string',
    bytes('"# coding: ascii"\n', [0xc3, 0xa9]),
    { text: '"# coding: ascii"\né', encoding: 'utf-8' },
  ],
  ['a null byte', bytes('x', [0], '\n'), { text: 'x\0\n', encoding: 'utf-8', rejection: 'null_byte' }],
];

describe('the text of a file', () => {
  for (const [name, content, { rejection, ...expected }] of CASES) {
    test(name, () => {
      const { text, encoding, rejection: found } = decodeSource(content);
      assert.deepEqual({ text, encoding, rejection: found }, { ...expected, rejection });
    });
  }

  test('a lone carriage return ends a line, as in VS Code', () => {
    assert.equal(decodeSource(bytes('a\rb\r\nc\n')).text, 'a\nb\r\nc\n');
    assert.equal(decodeSource(bytes('# \r# coding: gbk\r', [0xc4, 0xe3])).encoding, 'gbk');
  });

  test('line endings are told apart', () => {
    const endings = ['', 'x', 'a\nb\n', 'a\r\nb\r\n', 'a\rb\r', 'a\r\nb\n'].map(
      (text) => decodeSource(bytes(text)).lineEnding,
    );
    assert.deepEqual(endings, ['none', 'none', 'lf', 'crlf', 'cr', 'mixed']);
  });

  test('bytes that are a part of a larger buffer are read alone', () => {
    assert.equal(decodeSource(bytes('before x after').subarray(7, 8)).text, 'x');
  });
});

test('every letter that Python takes for an ASCII one is found', () => {
  const missed: string[] = [];
  for (let code = 0x80; code < 0x110000; code += 1) {
    const character = code >= 0xd800 && code < 0xe000 ? '' : String.fromCodePoint(code);
    const plain = character.normalize('NFKC');
    if (/^\p{ID_Continue}$/u.test(character) && /\w/.test(plain) && withoutLookalikes(character) !== plain) {
      missed.push(character);
    }
  }
  assert.deepEqual(missed, []);
});
