import type { OwnBenchmark } from '../benchmark/jobPackage';

/** A benchmark to choose from. */
export interface BenchmarkChoice {
  readonly label: string;
  readonly description: string;
  /** The evaluator's own name or a URI, or a file of the workspace. */
  readonly benchmark: string | OwnBenchmark;
  /** Whether another model gives the score. */
  readonly needsJudge?: boolean;
  /** Why it cannot be run here, if it cannot. */
  readonly refusal?: string;
}

const CONTAINERS = 'it needs containers, which a sharded run does not have';
const AGENT = 'it needs an agent and containers, which a sharded run does not have';

/** The evaluator's benchmarks that need more than a chat model. The driver checks the same again when it has loaded one. */
const NEEDS: ReadonlyMap<string, Pick<BenchmarkChoice, 'needsJudge' | 'refusal'>> = new Map([
  ['healthbench', { needsJudge: true }],
  ['simpleqa', { needsJudge: true }],
  ['humaneval', { refusal: CONTAINERS }],
  ['nmp_harbor', { refusal: AGENT }],
  ['pinchbench', { refusal: AGENT }],
  ['terminal-bench-hard', { refusal: AGENT }],
  ['terminal-bench-hard-aa-split', { refusal: AGENT }],
  ['terminal-bench-v1', { refusal: AGENT }],
]);

const CHAT = ['drop', 'gpqa', 'gsm8k', 'math500', 'mgsm', 'mmlu', 'mmlu_pro', 'triviaqa', 'xstest'];

/** What the evaluator takes as `scheme://…`, and why not where it cannot be run here. */
const SCHEMES: ReadonlyMap<string, string | undefined> = new Map([
  ['gym', undefined],
  ['skills', undefined],
  ['lm-eval', undefined],
  ['vlmevalkit', 'it asks about pictures, and a sharded run can only ask in text'],
  ['container', CONTAINERS],
  ['harbor', AGENT],
]);

/** The evaluator's own benchmarks: first those that can be run, then the others with the reason. */
export const BUILT_IN: readonly BenchmarkChoice[] = [...CHAT, ...NEEDS.keys()]
  .map((name) => ({ label: name, benchmark: name, ...NEEDS.get(name) }))
  .map((choice) => ({ ...choice, description: describe(choice) }))
  .sort((a, b) => Number(a.refusal !== undefined) - Number(b.refusal !== undefined) || a.label.localeCompare(b.label));

function describe({ refusal, needsJudge }: Pick<BenchmarkChoice, 'needsJudge' | 'refusal'>): string {
  return refusal === undefined
    ? `Its dataset comes from the internet${needsJudge ? '; needs a judge' : ''}`
    : `Cannot be run here: ${refusal}`;
}

/** The benchmark of the evaluator that has this name or URI. */
export function benchmarkNamed(name: string): BenchmarkChoice {
  return BUILT_IN.find(({ benchmark }) => benchmark === name) ?? { label: name, description: '', benchmark: name };
}

/** What is wrong with a benchmark that was typed; undefined when nothing is known against it. */
export function benchmarkProblem(typed: string): string | undefined {
  const [, scheme, rest = ''] = /^([\w-]+):\/\/(.*)$/.exec(typed) ?? [];
  if (scheme === undefined) {
    const { refusal } = benchmarkNamed(typed);
    return typed === '' ? 'A name, or a URI such as gym://127.0.0.1:8000' : refusal && `${typed}: ${refusal}`;
  }
  if (!SCHEMES.has(scheme)) {
    return `The evaluator knows no ${scheme}://. It knows ${[...SCHEMES.keys()].map((known) => `${known}://`).join(', ')}`;
  }
  const refusal = SCHEMES.get(scheme);
  if (refusal !== undefined) {
    return `${scheme}://: ${refusal}`;
  }
  if (scheme === 'gym' && !(URL.canParse(`http://${rest}`) && /:\d+/.test(rest))) {
    return 'The address of a running Gym server, as gym://127.0.0.1:8000';
  }
  return rest === '' ? `Something must follow ${scheme}://` : undefined;
}
