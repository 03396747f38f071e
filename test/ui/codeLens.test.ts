/** The code lenses as a person sees them, in four themes. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { projectRoot } from '../support/projectRoot';
import { type CodeWindow, openWindow } from '../support/vscode/window';

const files = {
  'base.py': `from nemo_gym.base_resources_server import SimpleResourcesServer


class Base(SimpleResourcesServer):
    ray_enabled = True
`,
  'real.py': `from nemo_gym.base_resources_server import SimpleResourcesServer


class RealServer(SimpleResourcesServer):
    ray_enabled = False
`,
  'app.py': `from base import Base
from nemo_gym.base_resources_server import SimpleResourcesServer
from real import RealServer


class OwnServer(SimpleResourcesServer):
    ray_enabled = True


class Child(Base):
    pass


class Field(SimpleResourcesServer):
    ray_enabled: bool = False


if __name__ == "__main__":
    OwnServer.run_webserver()
    Child.run_webserver()
    Field.run_webserver()
    RealServer.run_webserver()
`,
};

let folder: string;
let window: CodeWindow;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lenses-'));
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text);
  }
  window = await openWindow({
    folder,
    vsix: join(projectRoot, 'shardboard.vsix'),
  });
});

after(async () => {
  await window?.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

test('the code lenses say it in words that stand on one line, in each theme', { timeout: 5 * 60_000 }, async () => {
  const pictures = join(projectRoot, 'test-results', 'code-lens');
  await mkdir(pictures, { recursive: true });
  await window.quickOpen('app.py');
  await window.codeLens('Ray: on, from Base in base.py, not read by the supervisor').waitFor();
  for (const theme of ['light', 'dark', 'high contrast', 'high contrast light'] as const) {
    await window.setTheme(theme);
    await window.codeLens('Starts RealServer: Ray off, from real.py').waitFor();
    await window.screenshot(join(pictures, `${theme}.png`));
  }
});
