import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFakeGym } from './fakeGym';

/**
 * A workspace of the folders `one` and `two`, each with a server and a configuration of the same names, and a Gym of its own:
 * 0.7.0 in the `.venv` of the first, 0.8.0 where the settings of the second say. Beside them `three`, which is not opened.
 */
export interface TwoFolders {
  /** A `.code-workspace` file; the folders are beside it. */
  readonly workspace: string;
  remove(): Promise<void>;
}

export async function makeTwoFolders(): Promise<TwoFolders> {
  const parent = await realpath(await mkdtemp(join(tmpdir(), 'folders-')));
  await makeGym(join(parent, 'one', '.venv'), '0.7.0');
  await makeGym(join(parent, 'two', 'env'), '0.8.0');
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(parent, path)), { recursive: true });
    await writeFile(join(parent, path), text);
  };
  for (const [folder, name] of [
    ['one', 'words'],
    ['two', 'words'],
    ['two', 'only_two'],
    ['three', 'words'],
  ] as const) {
    for (const [path, text] of Object.entries(serverFiles(name))) {
      await write(`${folder}/${path}`, text);
    }
  }
  await write('one/needs_two.yaml', configurationText('only_two'));
  // As Gym leaves it of each run.
  await write('one/outputs/2026-01-01/10-00-00/.hydra/config.yaml', configurationText('words'));
  await write(
    'two/.vscode/settings.json',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code's own spelling of a variable in a setting.
    JSON.stringify({ 'shardboard.pythonPath': '${workspaceFolder}/env/bin/python' }),
  );
  const workspace = join(parent, 'two.code-workspace');
  await writeFile(workspace, JSON.stringify({ folders: [{ path: 'one' }, { path: 'two' }] }));
  return { workspace, remove: () => rm(parent, { recursive: true, force: true, maxRetries: 5 }) };
}

/** A server that needs no Ray, where Gym looks for it, and a configuration that starts it: the texts by their paths. */
export function serverFiles(name: string): Readonly<Record<string, string>> {
  const folder = `resources_servers/${name}`;
  return {
    [`${folder}/app.py`]: `from nemo_gym.base_resources_server import SimpleResourcesServer


class Server(SimpleResourcesServer):
    ray_enabled = False


if __name__ == "__main__":
    Server.run_webserver()
`,
    [`${folder}/requirements.txt`]: 'nemo-gym\n',
    [`${folder}/configs/${name}.yaml`]: configurationText(name),
  };
}

export function configurationText(name: string): string {
  return `${name}:\n  resources_servers:\n    ${name}:\n      entrypoint: app.py\n      domain: other\n`;
}

async function makeGym(environment: string, version: string): Promise<void> {
  await makeFakeGym(environment);
  const packages = join(environment, 'lib', 'python3.13', 'site-packages');
  await mkdir(join(packages, `nemo_gym-${version}.dist-info`), { recursive: true });
}
