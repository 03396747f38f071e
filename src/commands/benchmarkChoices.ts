import type { OwnBenchmark } from '../benchmark/jobPackage';

/** A benchmark to choose from. */
export interface BenchmarkChoice {
  readonly label: string;
  readonly description: string;
  /** The evaluator's own name, or a file of the workspace. */
  readonly benchmark: string | OwnBenchmark;
}

/**
 * The evaluator's benchmarks that a plain chat call can answer and that need no judge, sandbox or images.
 * The driver refuses what needs more than it has; these are the ones not to be refused.
 */
const BUILT_IN = ['drop', 'gpqa', 'gsm8k', 'math500', 'mgsm', 'mmlu', 'mmlu_pro', 'triviaqa'];

/** The workspace's own benchmarks first, then the evaluator's. */
export function benchmarkChoices(own: readonly BenchmarkChoice[]): readonly BenchmarkChoice[] {
  const builtIn = BUILT_IN.map((name) => ({
    label: name,
    description: 'Built into NeMo Evaluator; its dataset comes from Hugging Face',
    benchmark: name,
  }));
  return [...own, ...builtIn];
}
