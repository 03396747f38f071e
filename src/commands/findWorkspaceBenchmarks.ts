import * as vscode from 'vscode';
import { benchmarksIn, mayHoldBenchmarks } from '../benchmark/findBenchmarks';
import { type PythonParser, withTree } from '../python/parser';
import type { BenchmarkChoice } from './benchmarkChoices';

/** More Python files than this are not read for a list to choose from. */
const MOST_FILES = 2000;
const LEFT_OUT = '**/{node_modules,.venv,venv,__pycache__,site-packages,shardboard-results}/**';

/** The benchmarks that the workspace's Python files declare with `@benchmark(name="…")`. */
export async function findWorkspaceBenchmarks(parser: PythonParser): Promise<readonly BenchmarkChoice[]> {
  const files = await vscode.workspace.findFiles('**/*.py', LEFT_OUT, MOST_FILES);
  const choices: BenchmarkChoice[] = [];
  for (const uri of files) {
    if (uri.scheme !== 'file') {
      continue;
    }
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
    if (!mayHoldBenchmarks(text)) {
      continue;
    }
    for (const name of await withTree(parser, text, benchmarksIn)) {
      choices.push({
        label: name,
        description: vscode.workspace.asRelativePath(uri),
        benchmark: { file: uri.fsPath, name },
      });
    }
  }
  return choices.sort((a, b) => a.description.localeCompare(b.description));
}
