import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { runOrExplain } from '../../../scripts/lib/processes.mjs';
import { environmentForVSCode, startVSCodeServer, type VSCodeServer } from '../../../scripts/lib/vscodeServer.mjs';
import { vscodeWebPaths } from '../../../scripts/lib/vscodeWeb.mjs';
import { projectRoot } from '../projectRoot';

/** VS Code settings by their full names. */
export type Settings = Readonly<Record<string, unknown>>;

/** Nothing that opens, moves, asks or looks for something on the network by itself. */
const quietSettings: Settings = {
  'chat.commandCenter.enabled': false,
  'chat.disableAIFeatures': true,
  'editor.minimap.enabled': false,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.autofetch': false,
  'git.openRepositoryInParentFolders': 'never',
  'remote.autoForwardPorts': false,
  'telemetry.telemetryLevel': 'off',
  'terminal.integrated.enablePersistentSessions': false,
  'update.mode': 'none',
  'workbench.editor.enablePreview': false,
  'workbench.enableExperiments': false,
  'workbench.reduceMotion': 'on',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
};

export interface TestServerOptions {
  /** On top of the quiet ones. */
  readonly settings?: Settings;
  /** Installed the way a person installs a file. */
  readonly vsix?: string;
  /** Whether a new folder is untrusted until a person trusts it. */
  readonly asksForTrust?: boolean;
  /** Folders of extensions that are there as if they had been installed. Not together with `vsix`. */
  readonly extensions?: readonly string[];
  /** Further arguments of the server. */
  readonly args?: readonly string[];
  /** Further variables, for the extension host too. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts a VS Code server on folders of its own, all removed by `stop`. */
export async function startTestServer({
  settings = {},
  vsix,
  extensions = [],
  asksForTrust = false,
  args = [],
  env = {},
}: TestServerOptions): Promise<VSCodeServer> {
  const folder = await mkdtemp(join(tmpdir(), 'vscode-'));
  const userDataDir = join(folder, 'user-data');
  const extensionsDir = join(folder, 'extensions');
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  try {
    const program = vscodeWebPaths(projectRoot);
    // Before the start: VS Code does not always see a later change of the file.
    await mkdir(join(userDataDir, 'User'), { recursive: true });
    await writeFile(
      join(userDataDir, 'User', 'settings.json'),
      JSON.stringify({ ...quietSettings, ...settings }, null, 2),
    );
    for (const extension of extensions) {
      // VS Code takes what it finds there at its first start.
      await cp(extension, join(extensionsDir, basename(extension)), { recursive: true });
    }
    if (vsix !== undefined) {
      await runOrExplain(
        'Installing the extension',
        program.node,
        [
          program.server,
          ...['--install-extension', vsix, '--extensions-dir', extensionsDir, '--user-data-dir', userDataDir],
        ],
        { env: environmentForVSCode(process.env) },
      );
    }
    const server = await startVSCodeServer({
      program,
      userDataDir,
      extensionsDir,
      asksForTrust,
      args: ['--force-disable-user-env', ...args],
      // No gallery: the setting alone does not stop VS Code from asking one.
      env: { EXTENSIONS_GALLERY: '{}', ...env },
    });
    return {
      ...server,
      async stop() {
        await server.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
