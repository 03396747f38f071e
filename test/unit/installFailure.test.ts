import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installFailure, withoutSecrets } from '../../src/python/installFailure';

/** As pip 24 and uv 0.13 wrote it. */
const failures: readonly [name: string, output: string, sentence: string][] = [
  [
    'no such version',
    `Looking in indexes: https://index.example/simple
ERROR: Ignored the following versions that require a different python version: 0.3.0 Requires-Python <3.14,>=3.12
ERROR: Could not find a version that satisfies the requirement nemo-evaluator~=0.3.0 (from versions: 0.1.0, 0.2.8)
ERROR: No matching distribution found for nemo-evaluator~=0.3.0

[notice] A new release of pip is available: 23.2.1 -> 26.0
[notice] To update, run: pip install --upgrade pip`,
    'No matching distribution found for nemo-evaluator~=0.3.0.',
  ],
  [
    'no network, which pip takes for no such package',
    `WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/ray/
ERROR: Could not find a version that satisfies the requirement ray[default] (from versions: none)
ERROR: No matching distribution found for ray[default]`,
    'The package index cannot be reached: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution. Check the network and try again.',
  ],
  [
    'no network with uv',
    `error: Failed to fetch: \`https://index.example/simple/ray/\`
  Caused by: Request failed after 3 retries
  Caused by: error sending request for url (https://index.example/simple/ray/)`,
    'The package index cannot be reached. Check the network and try again.',
  ],
  [
    'a full disk',
    `Collecting ray[default]
ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device
`,
    'The disk is full. Make room and try again.',
  ],
  [
    'requirements that exclude each other',
    `ERROR: Cannot install ray==2.60.0 and thing because these package versions have conflicting dependencies.

The conflict is caused by:
    The user requested ray==2.60.0
    thing 1.0 depends on ray<2

To fix this you could try to:
1. loosen the range of package versions you've specified
ERROR: ResolutionImpossible: for help visit https://pip.example/dependency-resolution`,
    'Cannot install ray==2.60.0 and thing because these package versions have conflicting dependencies. The conflict: The user requested ray==2.60.0; thing 1.0 depends on ray<2.',
  ],
  [
    'requirements that uv cannot bring together',
    `Using Python 3.11.7 environment at: /env
  × No solution found when resolving dependencies:
  ╰─▶ Because the current Python version (3.11.7) does not satisfy Python>=3.12
      and nemo-evaluator==0.3.0 depends on Python>=3.12, we can conclude that
      your requirements are unsatisfiable.`,
    'No solution found when resolving dependencies: Because the current Python version (3.11.7) does not satisfy Python>=3.12 and nemo-evaluator==0.3.0 depends on Python>=3.12, we can conclude that your requirements are unsatisfiable.',
  ],
  [
    'a fault of pip, never its traceback',
    `ERROR: Exception:
Traceback (most recent call last):
  File "/env/lib/python3.12/site-packages/pip/_internal/cli/base_command.py", line 180, in exc_logging_wrapper
    status = run_func(*args)
PermissionError: [Errno 13] Permission denied: '/env/lib'`,
    "PermissionError: [Errno 13] Permission denied: '/env/lib'.",
  ],
  ['nothing that is called an error', 'Killed\n', 'Killed.'],
];
for (const [name, output, sentence] of failures) {
  test(`the reason of a failure: ${name}`, () => {
    assert.equal(installFailure(output), sentence);
  });
}

test('no output gives no reason', () => {
  assert.equal(installFailure('\n \n'), undefined);
});

test('no password of an index is told', () => {
  const line = 'ERROR: 401 for https://me:s3cr3t@index.example/simple/ray/';
  assert.equal(withoutSecrets(line), 'ERROR: 401 for https://****@index.example/simple/ray/');
  assert.equal(installFailure(line), '401 for https://****@index.example/simple/ray/.');
});
