import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createServerNames, headersIn, mayNameServers, searchableText } from '../../src/gym/serverNames';

/** Whether the words of a text make it worth parsing, going by what Gym's own classes are called. */
function isDerived(text: string): boolean {
  return headersIn(searchableText(Buffer.from(text))).some(createServerNames().isDerived);
}

describe('a class whose base is a server is found in a text', () => {
  for (const [name, text] of [
    ['plainly', 'class A(SimpleServer): pass\n'],
    ['through its module', 'class A(base.SimpleServer): pass\n'],
    ['through a name that stands for it', 'Base = gym.SimpleServer  # short\nclass A(Base): pass\n'],
    ['through an import under another name', 'from gym import SimpleServer as Base\nclass A(Base): pass\n'],
    ['below a comment in the brackets', 'class A(  # (a server)\n    SimpleServer\n): pass\n'],
    ['on a continued line', 'class \\\n    A \\\n    (SimpleServer): pass\n'],
    ['with type parameters', 'class A[T: (int, str)](SimpleServer): pass\n'],
    ['beside a call', 'class A(mixin(), SimpleServer): pass\n'],
    ['with lone carriage returns', 'x = 1\rclass A(SimpleServer): pass\r'],
    ['in letters that Python takes for these', 'class A(Ｓｉｍｐｌｅ𝐒erver): pass\n'],
  ] as const) {
    test(name, () => assert.ok(isDerived(text)));
  }
});

describe('a text is not worth parsing', () => {
  for (const [name, text] of [
    ['without a base', 'class A: pass\ndef f(SimpleServer): pass\n'],
    ['with another base', 'from gym import SimpleServer\nclass A(Other): pass\nf(SimpleServer):\n'],
  ] as const) {
    test(name, () => assert.ok(!isDerived(text)));
  }
});

test('the words of the flag are found in every encoding and in letters that look like them', () => {
  assert.ok(mayNameServers(searchableText(Buffer.from('ray_enabled'))));
  assert.ok(mayNameServers(searchableText(Buffer.from('ｒay_enabled'))));
  assert.ok(!mayNameServers(searchableText(Buffer.from('# é\nray = enabled\n'))));
});
