import { realpathSync } from 'node:fs';
import { executablesOnPath, run } from './processes.mjs';

/**
 * Where the desktop VS Code is, or why the one served to the browser is used instead.
 *
 * @typedef {{ code: string } | { reason: string }} DesktopVSCode
 */

/**
 * Looks for a desktop VS Code that can open a window here. Several things are called `code` and cannot: the one in a
 * remote window's terminal only talks to the window that it belongs to, the one of Windows does not know WSL's folders.
 *
 * @param {{ env: NodeJS.ProcessEnv, platform: NodeJS.Platform, userId: number | undefined }} machine
 * @param {string} minimumVersion for example "1.105.0"
 * @returns {Promise<DesktopVSCode>}
 */
export async function findDesktopVSCode({ env, platform, userId }, minimumVersion) {
  const [code] = executablesOnPath(env.PATH, ['code']);
  if (code === undefined) {
    return { reason: 'there is no `code` on the PATH' };
  }
  const target = realpathSync(code);
  if (env.VSCODE_IPC_HOOK_CLI !== undefined || /[/\\](remote-cli|code-server)[/\\]/.test(target)) {
    return { reason: '`code` belongs to a remote window here' };
  }
  if (env.WSL_DISTRO_NAME !== undefined && target.startsWith('/mnt/')) {
    return { reason: '`code` is the one of Windows' };
  }
  if (platform === 'linux' && env.DISPLAY === undefined && env.WAYLAND_DISPLAY === undefined) {
    return { reason: 'there is no desktop to open a window on' };
  }
  if (platform === 'linux' && userId === 0) {
    return { reason: 'the desktop VS Code does not run as root' };
  }
  const answer = await run(code, ['--version'], { timeoutMs: 20_000 });
  const version = /^\d+\.\d+\.\d+/.exec(answer.stdout)?.[0];
  if (!answer.ok || version === undefined) {
    return { reason: `${code} does not run` };
  }
  if (version.localeCompare(minimumVersion, 'en', { numeric: true }) < 0) {
    return { reason: `the desktop VS Code is ${version}, older than ${minimumVersion}` };
  }
  return { code };
}
