/** What is copied for the stock launcher, run as it is: by a shell and by Python, on a real cluster. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { request } from 'undici';
import { asPython, asRayJobSubmit, type CopiedRun } from '../../src/benchmark/copyAs';
import { parsePreset } from '../../src/benchmark/runPreset';
import { driverAccess } from '../../src/cluster/driverAccess';
import { type ClusterService, createClusterService } from '../../src/cluster/service';
import { startEndpoint, type TestEndpoint } from '../support/endpoint';
import { testPython } from '../support/testPython';
import { watcherProgram } from '../support/watcherProgram';

const KEY_VARIABLE = 'COPY_TEST_MODEL_KEY';
const KEY = 'sk-copied-run';

describe('a copied run on a real cluster', () => {
  let folder: string;
  let cluster: ClusterService;
  let model: TestEndpoint;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shardboard-copied-'));
    cluster = createClusterService({
      storageFolder: join(folder, 'storage'),
      resolvePython: async () => testPython(),
      watcher: watcherProgram,
      joined: { load: async () => undefined, save: async () => undefined, forget: async () => undefined },
    });
    // A cluster has the variables that it was started with.
    process.env[KEY_VARIABLE] = KEY;
    await cluster.start();
    delete process.env[KEY_VARIABLE];
    model = await startEndpoint({ key: KEY });
    const access = await driverAccess(cluster);
    assert.ok(!('reason' in access));
    env = {
      ...process.env,
      PATH: [dirname(testPython()), process.env.PATH].join(delimiter),
      // As VS Code's terminals have them.
      RAY_AUTH_MODE: 'token',
      RAY_AUTH_TOKEN_PATH: access.tokenFile,
    };
  });
  after(async () => {
    await cluster.stop();
    cluster.dispose();
    await model?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  const copied = async (name: string): Promise<CopiedRun> => {
    const state = cluster.state();
    const access = await driverAccess(cluster);
    assert.ok(state.kind === 'running' && !('reason' in access));
    const benchmarks = join(folder, "it's my benchmark");
    await mkdir(benchmarks, { recursive: true });
    const file = join(benchmarks, 'tiny.py');
    await cp(join(process.cwd(), 'test', 'fixtures', 'benchmarks', 'tiny.py'), file);
    const preset = parsePreset('it', {
      benchmark: `${file}:tiny`,
      shards: 2,
      repeats: 2,
      maxProblems: 5,
      modelUrl: model.url,
      modelId: 'test',
      systemPrompt: 'Say "$HOME", and don\'t say `why`.\nOnce.',
      key: { source: 'environment', name: KEY_VARIABLE },
    });
    return {
      preset,
      own: { file, name: 'tiny' },
      modelUrl: model.url,
      outputFolder: join(folder, `results of '${name}'`),
      dashboardUrl: state.dashboardUrl,
      gcsAddress: access.gcsAddress,
      python: testPython(),
    };
  };
  const bundleIn = async (output: string) => {
    const [name] = (await readdir(output)).filter((file) => file.startsWith('eval-'));
    assert.ok(name, 'there is a bundle');
    return JSON.parse(await readFile(join(output, name), 'utf8'));
  };

  it('gives the score as ray job submit, and the key is on no command line', async () => {
    const run = await copied('the shell');
    const { stdout } = await promisify(execFile)('sh', ['-c', asRayJobSubmit(run)], { env });
    assert.match(stdout, /succeeded/);
    const bundle = await bundleIn(run.outputFolder);
    assert.deepEqual([bundle.n_results, bundle.benchmark.scores['pass@1'].value], [10, 1]);
    // Not through our client, which hides what looks like a key.
    const headers = { authorization: `Bearer ${cluster.token()}` };
    const jobs = await (await request(`${run.dashboardUrl}/api/jobs/`, { headers })).body.text();
    assert.ok(jobs.includes(KEY_VARIABLE) && !jobs.includes(KEY), 'the jobs name where the key is, and do not tell it');
  });

  it('gives the score as Python', async () => {
    const run = await copied('Python');
    const program = join(folder, 'copied.py');
    await writeFile(program, asPython(run));
    const { stdout } = await promisify(execFile)(testPython(), [program], { env: { ...env, [KEY_VARIABLE]: KEY } });
    assert.match(stdout, /"pass@1": \{\s+"value": 1/);
    const bundle = await bundleIn(run.outputFolder);
    assert.deepEqual([bundle.n_results, bundle.benchmark.scores['pass@1'].value], [10, 1]);
  });
});
