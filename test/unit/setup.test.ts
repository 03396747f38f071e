import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { findDesktopVSCode } from '../../scripts/lib/desktopVSCode.mjs';
import { findPython, pythonCandidates } from '../../scripts/lib/findPython.mjs';
import { explainFailure, printable, SetupError } from '../../scripts/lib/setupError.mjs';
import { hashOfFile, stampSays, writeStamp } from '../../scripts/lib/stamps.mjs';
import { findUv } from '../../scripts/lib/uv.mjs';
import { environmentForVSCode } from '../../scripts/lib/vscodeServer.mjs';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'setup-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** An executable that runs a shell script. */
async function program(path: string, script: string): Promise<string> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

/** A candidate that answers as a Python of this version does. */
function python(path: string, version: string, report: object = {}): Promise<string> {
  const answer = { version, implementation: 'cpython', freeThreaded: false, canMakeEnvironments: true, ...report };
  return program(path, `echo '${JSON.stringify(answer)}'`);
}

describe('finding Python', () => {
  it('passes over a shim of the right name that fails, and takes what works behind it', async () => {
    const shim = await program('shims/python3.13', 'echo "pyenv: python3.13: command not found" >&2; exit 127');
    const old = await python('bin/python3', '3.11.2');
    const right = await python('pyenv/versions/3.12.1/bin/python3.12', '3.12.1');
    const candidates = pythonCandidates({
      env: { PATH: `${dirname(shim)}:${dirname(old)}`, PYENV_ROOT: join(folder, 'pyenv') },
      home: folder,
      platform: 'linux',
    });
    assert.deepEqual(candidates, [shim, old, right]);
    assert.deepEqual(await findPython(candidates, { needsVenv: true }), {
      path: right,
      version: '3.12.1',
      canMakeEnvironments: true,
    });
  });

  it('looks through the PATH first, then pyenv and uv, the newest of each first', async () => {
    const onPath = await python('bin/python3.12', '3.12.9');
    const older = await python('.pyenv/versions/3.12.9/bin/python3.12', '3.12.9');
    const newer = await python('.pyenv/versions/3.12.10/bin/python3.12', '3.12.10');
    const ofUv = await python('.local/share/uv/python/cpython-3.13.1-linux/bin/python3.13', '3.13.1');
    const candidates = pythonCandidates({ env: { PATH: dirname(onPath) }, home: folder, platform: 'linux' });
    assert.deepEqual(candidates, [onPath, newer, older, ofUv]);
  });

  it('never runs the Python of macOS, which may answer with a dialog', () => {
    const machine = { env: { PATH: '/usr/bin' }, home: folder };
    const inUsrBin = (platform: NodeJS.Platform): string[] =>
      pythonCandidates({ ...machine, platform }).filter((path) => path.startsWith('/usr/bin/'));
    assert.deepEqual(inUsrBin('darwin'), []);
  });

  it('says of each candidate why it will not do, and what to install', async () => {
    const candidates = [
      await python('a/python3', '3.14.0'),
      await program('b/python3.13', 'echo "no such version" >&2; exit 1'),
      await program('c/python3.13', 'echo nonsense'),
      await python('d/python3.13', '3.13.1', { freeThreaded: true }),
      await python('e/python3.12', '3.12.1', { canMakeEnvironments: false }),
      join(folder, 'gone'),
    ];
    await assert.rejects(findPython(candidates, { needsVenv: true }), (error) => {
      assert.ok(error instanceof SetupError);
      assert.match(error.message, /a\/python3: is 3\.14\.0/);
      assert.match(error.message, /b\/python3\.13: does not run \(no such version\)/);
      assert.match(error.message, /c\/python3\.13: does not answer like a Python/);
      assert.match(error.message, /d\/python3\.13: is a build that Ray has no packages for/);
      assert.match(error.message, /e\/python3\.12: has no venv module/);
      assert.match(error.message, /gone: does not run/);
      assert.match(error.message, /Shardboard needs Python 3\.12 or 3\.13/);
      return true;
    });
  });

  it('takes a Python without venv when uv makes the environment', async () => {
    const bare = await python('bin/python3.12', '3.12.1', { canMakeEnvironments: false });
    const found = await findPython([bare], { needsVenv: false });
    assert.equal(found.canMakeEnvironments, false);
  });

  it('says so when there is nothing at all', async () => {
    await assert.rejects(findPython([], { needsVenv: true }), /none was found/);
  });
});

describe('finding uv', () => {
  it('passes over one that does not run', async () => {
    const shim = await program('shims/uv', 'exit 127');
    const right = await program('bin/uv', 'echo uv 1.0');
    assert.equal(await findUv({ PATH: `${dirname(shim)}:${dirname(right)}` }), right);
    assert.equal(await findUv({ PATH: dirname(shim) }), undefined);
  });
});

describe('finding the desktop VS Code', () => {
  const desktop = { platform: 'linux', userId: 1000 } as const;
  let code: string;

  beforeEach(async () => {
    code = await program('bin/code', 'printf "1.105.0\\nabcdef\\nx64\\n"');
  });

  it('takes one that is new enough', async () => {
    const machine = { ...desktop, env: { PATH: dirname(code), DISPLAY: ':0' } };
    assert.deepEqual(await findDesktopVSCode(machine, '1.105.0'), { code });
    assert.deepEqual(await findDesktopVSCode(machine, '1.110.0'), {
      reason: 'the desktop VS Code is 1.105.0, older than 1.110.0',
    });
  });

  it('leaves out what is called code and cannot open a window here', async () => {
    const PATH = dirname(code);
    const remote = await program('vscode-server/bin/remote-cli/code', 'echo 1.105.0');
    await mkdir(join(folder, 'links'));
    await symlink(remote, join(folder, 'links', 'code'));
    const reasonFor = async (env: NodeJS.ProcessEnv, change: object = {}): Promise<string> => {
      const found = await findDesktopVSCode({ ...desktop, env, ...change }, '1.105.0');
      return 'reason' in found ? found.reason : `took ${found.code}`;
    };
    assert.match(await reasonFor({ PATH: folder }), /no `code` on the PATH/);
    assert.match(await reasonFor({ PATH, VSCODE_IPC_HOOK_CLI: '/tmp/socket', DISPLAY: ':0' }), /remote window/);
    assert.match(await reasonFor({ PATH: join(folder, 'links'), DISPLAY: ':0' }), /remote window/);
    assert.match(await reasonFor({ PATH }), /no desktop/);
    assert.match(await reasonFor({ PATH, DISPLAY: ':0' }, { userId: 0 }), /root/);
    await program('bin/code', 'exit 1');
    assert.match(await reasonFor({ PATH, DISPLAY: ':0' }), /does not run/);
  });
});

describe('stamps', () => {
  it('hold for just the text that was written', async () => {
    const stamp = join(folder, 'stamp');
    assert.equal(stampSays(stamp, 'one'), false);
    writeStamp(stamp, 'one');
    assert.equal(stampSays(stamp, 'one'), true);
    assert.equal(stampSays(stamp, 'two'), false);
  });

  it('are made from the content of a file', async () => {
    const file = join(folder, 'lock');
    await writeFile(file, 'a');
    const before = hashOfFile(file);
    await writeFile(file, 'b');
    assert.notEqual(hashOfFile(file), before);
  });
});

describe('the message of a failure', () => {
  const sentence = (output: string): string => explainFailure('Installing', output);

  it('names a full disk, in the words of npm, pip and uv', () => {
    for (const output of [
      'npm error code ENOSPC\nnpm error ENOSPC: no space left on device, write',
      'ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device',
      'error: failed to copy file\n  Caused by: No space left on device (os error 28)',
    ]) {
      assert.match(sentence(output), /^Installing failed: the disk is full\./);
    }
  });

  it('names a registry that cannot be reached, in the words of npm, pip and uv', () => {
    for (const output of [
      'npm error code ENOTFOUND\nnpm error request failed, reason: getaddrinfo ENOTFOUND',
      'NewConnectionError: Failed to establish a new connection: [Errno 111] Connection refused',
      'error: Failed to fetch: `http://x/simple/ray/`\n  Caused by: error sending request\n  Caused by: dns error',
    ]) {
      assert.match(sentence(output), /^Installing failed: the package registry could not be reached\./);
    }
  });

  it('shows the last lines of anything else', () => {
    const output = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n');
    assert.match(sentence(output), /^ {2}line 28\n[\s\S]*line 39\nInstalling failed/);
  });

  it('keeps the stack of a fault of ours, and only of that', () => {
    const fault = new TypeError('x is not a function');
    assert.equal(printable(fault), fault);
    assert.equal(printable(new SetupError('No Python.')), '\nNo Python.');
    assert.match(String(printable(new Error('ENOSPC: no space left on device, write'))), /the disk is full/);
  });
});

describe('the environment of a VS Code', () => {
  it('has nothing of another VS Code or of npm, and all the rest', () => {
    const env = {
      PATH: '/bin',
      RAY_ADDRESS: 'x',
      VSCODE_IPC_HOOK: '1',
      ELECTRON_RUN_AS_NODE: '1',
      npm_command: 'test',
    };
    assert.deepEqual(environmentForVSCode({ ...env, NODE_OPTIONS: '--require x', INIT_CWD: '/x' }), {
      PATH: '/bin',
      RAY_ADDRESS: 'x',
    });
  });
});
