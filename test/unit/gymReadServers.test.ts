import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mayHoldServers, readServers } from '../../src/gym/readServers';
import type { ServerFile } from '../../src/gym/serverFile';
import { createServerReadings } from '../../src/gym/serverReadings';
import { type PythonParser, withTree } from '../../src/python/parser';
import { usePythonParser } from '../support/pythonGrammar';

const parser = usePythonParser();

const read = (text: string): Promise<ServerFile> => withTree(parser(), text, (root) => readServers(root, text));

/** `Name: kind, supervisor's reading, started`, one for each class. */
async function words(text: string): Promise<string[]> {
  return (await read(text)).classes.map(
    ({ qualifiedName, declared, strict, starts }) =>
      `${qualifiedName}: ${declared}, ${strict}${starts ? ', started' : ''}`,
  );
}

/** What a server with this body says. */
async function bodySays(...lines: string[]): Promise<string> {
  const [first] = await words(
    `class S(SimpleServer):\n${lines.map((line) => `    ${line}\n`).join('')}\n\nS.run_webserver()\n`,
  );
  return first ?? 'no class';
}

describe('forms of the flag', () => {
  const forms: Readonly<Record<string, [string, ...string[]]>> = {
    'parentheses around the name': ['on, on', '(ray_enabled) = True'],
    'a quoted annotation': ['off, off', 'ray_enabled: "ClassVar[bool]" = False'],
    'a chain that begins with the flag': ['off, off', 'ray_enabled = other = False'],
    'after a docstring and a comment': [
      'on, on',
      '"""ray_enabled = False"""',
      '# ray_enabled = False',
      'ray_enabled = True',
    ],
    'a literal after something computed': ['on, on', 'ray_enabled = compute()', 'ray_enabled = True'],
    'something computed after a literal': ['unreadable, unknown', 'ray_enabled = True', 'ray_enabled = compute()'],
    'None after a literal': ['not_declared, unknown', 'ray_enabled = True', 'ray_enabled = None'],
    'a tuple': ['unreadable, unknown', 'ray_enabled, other = True, False'],
    'a tuple of one': ['unreadable, unknown', 'ray_enabled, = [True]'],
    'a value that is a tuple': ['unreadable, unknown', 'ray_enabled = True,'],
    'a starred target': ['unreadable, unknown', 'first, *ray_enabled = 1, 2'],
    'an expression in parentheses': ['unreadable, unknown', 'ray_enabled = (True if x else False)'],
    'a walrus': ['unreadable, unknown', 'other = (ray_enabled := True)'],
    'an augmented assignment after a literal': ['unreadable, off', 'ray_enabled = False', 'ray_enabled |= True'],
    'a function': ['unreadable, unknown', 'def ray_enabled(self): return True'],
    'a decorated property': ['unreadable, unknown', '@property', 'def ray_enabled(self): return True'],
    'a class': ['unreadable, unknown', 'class ray_enabled: pass'],
    'an import': ['unreadable, unknown', 'from settings import ray_enabled'],
    'an import under that name': ['unreadable, unknown', 'import settings as ray_enabled'],
    'a loop': ['unreadable, unknown', 'for ray_enabled in (True,): pass'],
    'a with': ['unreadable, unknown', 'with open("x") as ray_enabled: pass'],
    'a case': ['unreadable, unknown', 'match x:', '    case ray_enabled: pass'],
    'a case as': ['unreadable, unknown', 'match x:', '    case int() as ray_enabled: pass'],
    'a condition': ['unreadable, unknown', 'if x:', '    ray_enabled = True'],
    'a deletion under a condition': ['unreadable, on', 'ray_enabled = True', 'if x:', '    del ray_enabled'],
    'a deletion among others': ['not_declared, on', 'ray_enabled = other = True', 'del other, ray_enabled'],
    'set again after a deletion': ['off, off', 'ray_enabled = True', 'del ray_enabled', 'ray_enabled = False'],
    'a global of that name': ['not_declared, on', 'global ray_enabled', 'ray_enabled = True'],
    'other names': ['not_declared, unknown', 'ray_enabled_ = True', 'xray_enabled = True', 'RAY_ENABLED = True'],
    'attributes and items': [
      'not_declared, unknown',
      'config.ray_enabled = True',
      'd["ray_enabled"] = True',
      'ray_enabled.x = True',
    ],
    'reading it': ['not_declared, unknown', 'x = ray_enabled', 'print(ray_enabled, ray_enabled=True)'],
    'inner scopes': [
      'not_declared, unknown',
      'x = [ray_enabled for ray_enabled in y]',
      'f = lambda ray_enabled=True: 1',
      'def g(self, ray_enabled=True):',
      '    ray_enabled = False',
    ],
    'a lambda': ['unreadable, unknown', 'ray_enabled = lambda: True'],
    'a comparison': ['not_declared, unknown', 'ray_enabled == True'],
  };
  for (const [name, [expected, ...body]] of Object.entries(forms)) {
    test(name, async () => assert.equal(await bodySays(...body), `S: ${expected}, started`));
  }
});

describe('while somebody types', () => {
  for (const value of [
    '',
    'T',
    'Tru',
    'True if',
    'True or',
    'True and not',
    'not',
    'True.',
    'True[',
    'True False',
    'True = False',
    '"True',
    '(True',
    '[True',
    '{True',
    'True)',
    'True]',
    'lambda: True if',
    'await',
    '=',
    '= True',
  ]) {
    test(`ray_enabled = ${value}`, async () => {
      for (const after of [[], ['x = True'], ['True'], ['def f(self): return True'], ['other: bool = False', 'True']]) {
        const said = await bodySays(`ray_enabled = ${value}`, ...after);
        assert.match(said, /^S: (unreadable|not_declared), unknown|^no class$/, after.join());
      }
    });
  }

  test('an unfinished line above takes nothing away', async () => {
    assert.equal(await bodySays('x =', 'ray_enabled = True'), 'S: on, on, started');
    assert.equal(await bodySays('x: int', 'ray_enabled = True'), 'S: on, on, started');
  });

  test('lines end inside brackets and after backslashes, and nothing ends there', async () => {
    const bodies: [string, ...string[]][] = [
      ['ray_enabled: ClassVar[', '    bool', '] = True'],
      ['ray_enabled = (', '    True  # yes', ')'],
      ['ray_enabled \\', ': bool \\', '= \\', 'True'],
      ['x = \\', 'ray_enabled = True'],
      ['x[', '    0', '] = ray_enabled = True'],
    ];
    for (const body of bodies) {
      assert.equal(await bodySays(...body), 'S: on, on, started', body.join());
    }
  });

  test('what is whole is still read when something else in the body is not', async () => {
    for (const after of ['def', '@', 'x = (', 'def f(self', 'if x', 'class']) {
      assert.match(await bodySays('ray_enabled = True', after), /^S: on, on/, after);
    }
  });

  test('a file that does not parse settles nothing for the supervisor', async () => {
    const whole = 'class S(SimpleServer):\n    ray_enabled = True\n\n\nS.run_webserver()\n';
    assert.equal((await read(whole)).entrypoint.strict, 'on');
    assert.equal((await read(`${whole}\nx = (\n`)).entrypoint.strict, 'unknown');
  });

  test('a class whose header is not closed is not taken for the one below it', async () => {
    const text = 'class Half(SimpleServer\n\n\nclass S(SimpleServer):\n    ray_enabled = True\n';
    assert.deepEqual(await words(text), []);
  });
});

describe('which classes are servers', () => {
  test('requests, configurations and helpers are not', async () => {
    const text = `
from nemo_gym.base_resources_server import BaseResourcesServerConfig, BaseRunRequest, SimpleResourcesServer
from pydantic import BaseModel
class Config(BaseResourcesServerConfig): pass
class Request(BaseRunRequest): pass
class Answer(BaseModel): pass
class Helper: pass
class Server(SimpleResourcesServer): pass
`;
    assert.deepEqual(await words(text), ['Server: not_declared, unknown']);
  });

  test('bases are found through aliases, modules, subscripts and classes of the file', async () => {
    const text = `
import nemo_gym.base_resources_server as gym
from nemo_gym.base_responses_api_agent import SimpleResponsesAPIAgent as Agent
class A(gym.SimpleResourcesServer): pass
class B(Mixin, Agent): pass
class C(gym.SimpleResourcesServer[int], metaclass=Meta): pass
class D(C): pass
class E(Unknown): pass
`;
    assert.deepEqual(
      (await read(text)).classes.map(({ name }) => name),
      ['A', 'B', 'C', 'D'],
    );
  });

  test('a class of the same name in another scope is another class', async () => {
    const text = `
class S(SimpleServer):
    ray_enabled = True

def make():
    class S(SimpleServer):
        ray_enabled = False
    S.run_webserver()
`;
    assert.deepEqual(await words(text), ['S: on, on', 'make.<locals>.S: off, off, started']);
  });

  test('a started class in a class, and one that is started by another name', async () => {
    const text = `
class Outer:
    class Inner(SimpleServer):
        ray_enabled = True
App = Outer.Inner
App.run_webserver()
`;
    assert.deepEqual(await words(text), ['Outer.Inner: on, on, started']);
    assert.equal((await read(text)).entrypoint.strict, 'unknown');
    const dotted = await read(text.replace('App.run', 'Outer.Inner.run'));
    assert.equal(dotted.classes[0]?.starts, true);
    assert.equal(dotted.entrypoint.strict, 'unknown');
  });

  test('a class under a condition is started, but the supervisor does not look there', async () => {
    const text = 'if x:\n    class S(SimpleServer):\n        ray_enabled = True\nS.run_webserver()\n';
    assert.deepEqual(await words(text), ['S: on, on, started']);
    assert.equal((await read(text)).entrypoint.strict, 'unknown');
  });

  test('nothing is started by a name alone, another method or a string', async () => {
    const text =
      'class S(SimpleServer): pass\nS.run_webserver\nS.run()\nrun_webserver(S)\n"S.run_webserver()"\n# S.run_webserver()\n';
    const file = await read(text);
    assert.deepEqual(file.startCalls, []);
    assert.equal(file.entrypoint.strict, 'unknown');
  });
});

test('names are compared as Python compares them, whatever letters they are written in', async () => {
  const text = 'class S(SimpleServer):\n    ray︳enabled = True\n\n\nS.run︴webserver()\n';
  assert.deepEqual(await words(text), ['S: on, on, started']);
});

test('columns count UTF-16 units after emoji and wide letters', async () => {
  const text = 'class S(SimpleServer): 名 = "😀é"; ray_enabled = True\n';
  const declaration = (await read(text)).classes[0]?.declaration;
  const column = text.indexOf('ray_enabled');
  assert.deepEqual(declaration, { startLine: 0, startColumn: column, endLine: 0, endColumn: column + 18 });
});

describe('readings', () => {
  const server = 'class S(SimpleServer):\n    ray_enabled = True\n';

  function counting(): { parser: PythonParser; parses: () => number } {
    let parses = 0;
    return {
      parses: () => parses,
      parser: {
        parse(text) {
          parses++;
          return parser().parse(text);
        },
        parseNow(text, previousTree) {
          const tree = parser().parseNow(text, previousTree);
          parses += tree ? 1 : 0;
          return tree;
        },
        dispose: () => undefined,
      },
    };
  }

  const uri = { path: '/w/app.py' };

  test('a text without a word of Gym is never parsed', () => {
    assert.equal(mayHoldServers('class Server(Base):\n    enabled = True\n'), false);
    assert.equal(mayHoldServers(server), true);
    assert.equal(mayHoldServers('import nemo_gym'), true);
    assert.equal(mayHoldServers('x.run_webserver()'), true);
    const { parser: counted, parses } = counting();
    const readings = createServerReadings(counted);
    assert.equal(readings.read({ version: 1, uri, getText: () => 'class Server(Base): pass\n' }), undefined);
    assert.equal(parses(), 0);
  });

  test('a version is parsed once, and given at once after that', async () => {
    const { parser: counted, parses } = counting();
    const readings = createServerReadings(counted);
    const document = { version: 1, uri, text: server, getText: () => document.text };
    const [first, second] = await Promise.all([readings.read(document), readings.read(document)]);
    assert.equal(first, second);
    assert.equal(readings.read(document), first);
    assert.equal(parses(), 1);

    document.version = 2;
    document.text = server.replace('True', 'False');
    assert.equal((await readings.read(document))?.classes[0]?.declared, 'off');
    assert.equal(parses(), 2);
  });

  test('a failure is told and the next reading tries again', async () => {
    let broken = true;
    const readings = createServerReadings({
      parse: async (text) => {
        if (broken) {
          throw new Error('no grammar');
        }
        return parser().parse(text);
      },
      parseNow: () => undefined,
      dispose: () => undefined,
    });
    const document = { version: 1, uri, getText: () => server };
    await assert.rejects(async () => readings.read(document), /no grammar/);
    broken = false;
    assert.equal((await readings.read(document))?.classes.length, 1);
  });
});
