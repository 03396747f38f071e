/** A run as text that does the same with the evaluator's own launcher, as far as that can. */
import { basename, dirname } from 'node:path';
import { shellWord } from '../common/shellWord';
import type { OwnBenchmark } from './jobPackage';
import type { PresetKey, RunPreset } from './runPreset';

/** The environment variable that the launcher takes the endpoint's key from by itself. */
const KEY_VARIABLE = 'NEMO_API_KEY';

/** What Ray would pack, beside what it leaves out by itself and what ignore files name: the results of earlier runs. */
const LEFT_OUT = ['shardboard-results'];

export interface CopiedRun {
  readonly preset: RunPreset;
  readonly own: OwnBenchmark | undefined;
  /** The preset's, or the practice model's own. */
  readonly modelUrl: string;
  /** Absolute: what the launcher writes relative to its working folder is never found again. */
  readonly outputFolder: string;
  /** The cluster's dashboard, which takes jobs. */
  readonly dashboardUrl: string;
  /** `IP:port` for `ray.init`; undefined when a program on this machine cannot join the cluster. */
  readonly gcsAddress: string | undefined;
  /** The Python that the cluster runs Ray with. */
  readonly python: string;
}

/** The run as a command for a POSIX shell. */
export function asRayJobSubmit(run: CopiedRun): string {
  const { preset } = run;
  const notes = [
    "# The benchmark as a job of NeMo Evaluator's own launcher.",
    ...keyNotes(preset.key, 'The cluster must have been started with it.').map((note) => `# ${note}`),
    ...leftOutNotes(preset).map((note) => `# ${note}`),
  ];
  const submit = [
    'ray job submit',
    `--address ${shellWord(run.dashboardUrl)}`,
    ...(run.own
      ? [
          `--working-dir ${shellWord(dirname(run.own.file))}`,
          `--runtime-env-json ${shellWord(JSON.stringify({ excludes: LEFT_OUT }))}`,
        ]
      : []),
    '--',
  ].join(' ');
  const launch = [...launcher(run.python, preset.key), '-m nemo_evaluator.engine.ray_launcher'].join(' ');
  const args = [
    `--benchmark ${shellWord(stockBenchmark(run))}`,
    `--shards ${preset.shards}`,
    `--repeats ${preset.repeats}`,
    ...(preset.maxProblems === null ? [] : [`--max-problems ${preset.maxProblems}`]),
    `--model-url ${shellWord(run.modelUrl)}`,
    `--model-id ${shellWord(preset.modelId)}`,
    ...(preset.systemPrompt === null ? [] : [`--system-prompt ${shellWord(preset.systemPrompt)}`]),
    `--shuffle-seed ${preset.shuffleSeed ?? -1}`,
    `--output-dir ${shellWord(run.outputFolder)}`,
  ];
  return `${[...notes, [submit, launch, ...args].join(' \\\n  ')].join('\n')}\n`;
}

/** The run as a Python program. */
export function asPython(run: CopiedRun): string {
  const { preset } = run;
  const key = keyVariable(preset.key);
  const address = run.gcsAddress === undefined ? 'auto' : run.gcsAddress;
  const runtimeEnv = run.own
    ? `, runtime_env={"working_dir": ${python(dirname(run.own.file))}, "excludes": ${JSON.stringify(LEFT_OUT)}}`
    : '';
  const notes = [
    ...keyNotes(preset.key, 'The shell that runs this program must have it.'),
    ...leftOutNotes(preset),
    ...(run.gcsAddress === undefined ? ['Run it on a node of the cluster: Ray lets only programs there join.'] : []),
  ].map((note) => `# ${note}`);
  return `"""The benchmark with NeMo Evaluator's own launcher. Needs nemo-evaluator[ray,stats], and the cluster's Ray and Python."""

${[...notes, ...(notes.length > 0 ? [''] : [])].join('\n')}import json
${key === undefined ? '' : 'import os\n'}import tempfile
from pathlib import Path

import ray
from nemo_evaluator.engine.ray_launcher import run_shard
from nemo_evaluator.engine.sharding import merge_results

SHARDS = ${preset.shards}
REPEATS = ${preset.repeats}

ray.init(address=${python(address)}${runtimeEnv})
bundles = ray.get(
    [
        run_shard.remote(
            benchmark=${python(stockBenchmark(run))},
            shard_idx=shard,
            total_shards=SHARDS,
            model_url=${python(run.modelUrl)},
            model_id=${python(preset.modelId)},
            api_key=${key === undefined ? 'None' : `os.environ[${python(key)}]`},
            n_repeats=REPEATS,
            max_problems=${preset.maxProblems ?? 'None'},
            system_prompt=${preset.systemPrompt === null ? 'None' : python(preset.systemPrompt)},
            shuffle_seed=${preset.shuffleSeed ?? 'None'},
        )
        for shard in range(SHARDS)
    ]
)

output = Path(${python(run.outputFolder)})
output.mkdir(parents=True, exist_ok=True)
with tempfile.TemporaryDirectory() as folder:
    shard_folders = []
    for shard, bundle in enumerate(bundles):
        shard_folder = Path(folder) / f"shard_{shard:05}"
        shard_folder.mkdir()
        rows = "".join(json.dumps(row, default=str) + "\\n" for row in bundle.pop("_results", []))
        (shard_folder / "results.jsonl").write_text(rows)
        (shard_folder / "bundle.json").write_text(json.dumps(bundle, default=str))
        shard_folders.append(shard_folder)
    merged = merge_results(shard_folders, output, n_repeats=REPEATS)
print(json.dumps(merged["benchmark"]["scores"], indent=2))
`;
}

/** As the launcher names it from the folder that travels along. */
function stockBenchmark({ preset, own }: CopiedRun): string {
  return own ? `${basename(own.file)}:${own.name}` : preset.benchmark;
}

/**
 * The Python, with the key under the launcher's name when the cluster has it under another: by a shell that reads it on the
 * cluster, since on the command line everybody there could read the key.
 */
function launcher(python: string, key: PresetKey): string[] {
  return key.source === 'environment' && key.name !== KEY_VARIABLE
    ? [`sh -c '${KEY_VARIABLE}="$${key.name}" exec "$0" "$@"' ${shellWord(python)}`]
    : [shellWord(python)];
}

function keyVariable(key: PresetKey): string | undefined {
  return key.source === 'none' ? undefined : key.source === 'environment' ? key.name : KEY_VARIABLE;
}

function keyNotes(key: PresetKey, where: string): string[] {
  const variable = keyVariable(key);
  return variable === undefined
    ? []
    : [`The endpoint's key is read from the environment variable ${variable}. ${where}`];
}

/** What was chosen and the launcher has no way to do. */
function leftOutNotes(preset: RunPreset): string[] {
  const { generation, budget } = preset;
  const lost = [
    ...(generation.temperature === 0 ? [] : [`temperature ${generation.temperature ?? "of the endpoint's own"}`]),
    ...(generation.topP === null ? [] : [`top_p ${generation.topP}`]),
    ...(generation.maxTokens === null ? [] : [`max_tokens ${generation.maxTokens}`]),
    ...(generation.seed === null ? [] : [`seed ${generation.seed}`]),
    ...(generation.stop.length === 0 ? [] : ['stop sequences']),
    ...(generation.frequencyPenalty === null ? [] : [`frequency_penalty ${generation.frequencyPenalty}`]),
    ...(generation.presencePenalty === null ? [] : [`presence_penalty ${generation.presencePenalty}`]),
    ...(preset.judge === null ? [] : ['the judge']),
    ...(preset.datasetKey.source === 'none' ? [] : ['the key for the dataset']),
    ...(budget.answers === null && budget.tokens === null && budget.money === null ? [] : ['the budget']),
    ...(preset.tags.length === 0 ? [] : ['tags']),
  ];
  return [
    ...(lost.length === 0 ? [] : [`The launcher has no way to set these, so they are left out: ${lost.join(', ')}.`]),
    'It asks at temperature 0, with 8 requests in flight a shard and its own time-outs and retries.',
  ];
}

/** A text as a Python literal: JSON's are those, but for what no text of ours holds. */
function python(text: string): string {
  return JSON.stringify(text);
}
