import type { Node } from 'web-tree-sitter';
import { dottedNameOf, nameOf, rangeOf, withoutParentheses } from '../python/syntax';
import { classesIn, classNamed, declaringBaseOf, isServer, type PythonClass } from './classes';
import type { ServerFile, SupervisorReading } from './serverFile';

/** Whether it is worth parsing the text for servers: files that have nothing to do with Gym are never parsed. */
export function mayHoldServers(text: string): boolean {
  return text.includes('nemo_gym') || text.includes('ray_enabled') || text.includes('run_webserver');
}

/** Reads the servers of one file from its syntax tree. A file that does not parse is read as far as it can be. */
export function readServers(root: Node): ServerFile {
  const classes = classesIn(root);
  const calls = startCallsIn(root);
  const started = startedClasses(root, classes, calls);
  return {
    classes: classes
      .filter((candidate) => started.has(candidate) || isServer(candidate))
      .map((server) => ({
        name: server.name,
        qualifiedName: server.qualifiedName,
        nameRange: rangeOf(server.nameNode),
        rayEnabled: server.flag.rayEnabled,
        declaringBase: declaringBaseOf(server)?.name,
        supervisor: server.flag.supervisor,
        starts: started.has(server),
      })),
    startCalls: calls.map(({ receiver, node }) => ({ receiver, range: rangeOf(node) })),
    supervisor: root.hasError ? 'unknown' : entrypointReading(classes, calls),
  };
}

interface Call {
  readonly receiver: string;
  readonly node: Node;
}

/** Every call of `run_webserver` on a name or a dotted name, wherever it stands. */
function startCallsIn(root: Node): Call[] {
  const calls: Call[] = [];
  for (const node of root.descendantsOfType('call')) {
    const callee = node.childForFieldName('function');
    const method = callee?.childForFieldName('attribute');
    const object = callee?.childForFieldName('object');
    if (callee?.type !== 'attribute' || !object || !method || nameOf(method) !== 'run_webserver') {
      continue;
    }
    const receiver = dottedNameOf(withoutParentheses(object));
    if (receiver !== undefined) {
      calls.push({ receiver, node });
    }
  }
  return calls;
}

function startedClasses(root: Node, classes: readonly PythonClass[], calls: readonly Call[]): Set<PythonClass> {
  const aliases = aliasesIn(root);
  const started = new Set<PythonClass>();
  for (const { receiver, node } of calls) {
    const alias = aliases.get(receiver);
    const target =
      classNamed(receiver, node, classes) ?? (alias === undefined ? undefined : classNamed(alias, node, classes));
    if (target) {
      started.add(target);
    }
  }
  return started;
}

/** Assignments of one name to another at the top level: `App = RealServer`. */
function aliasesIn(root: Node): Map<string, string> {
  const aliases = new Map<string, string>();
  for (const statement of root.namedChildren) {
    const assignment = statement.type === 'expression_statement' ? statement.firstNamedChild : null;
    const left = assignment?.type === 'assignment' ? assignment.childForFieldName('left') : null;
    const right = assignment?.childForFieldName('right');
    const meaning = right ? dottedNameOf(right) : undefined;
    if (left?.type === 'identifier' && meaning !== undefined) {
      aliases.set(nameOf(left), meaning);
    }
  }
  return aliases;
}

/**
 * The supervisor's rule: of the classes that plain names start, any that is on makes it on; else any that it cannot read
 * makes it unknown. A name counts only when it is a class at the top level of this same file.
 */
function entrypointReading(classes: readonly PythonClass[], calls: readonly Call[]): SupervisorReading {
  const readings = new Set(
    calls
      .filter(({ receiver }) => !receiver.includes('.'))
      .map(({ receiver }) => classes.findLast(({ name, isTopLevel }) => isTopLevel && name === receiver))
      .map((started) => started?.flag.supervisor ?? 'unknown'),
  );
  if (readings.has('on')) {
    return 'on';
  }
  return readings.size === 0 || readings.has('unknown') ? 'unknown' : 'off';
}
