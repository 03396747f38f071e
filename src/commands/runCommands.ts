import { access } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { Runs } from '../benchmark/runs';
import { UserError } from '../common/userError';
import { hasEnded, type RunSnapshot } from '../protocol/runSnapshot';
import { countOf, formatCount } from '../results-page/format';
import { originWords, runTitle, statusSentence } from '../results-page/words';
import type { JobLogs } from '../views/jobLogs';
import type { RunLogs } from '../views/runLogs';

/** The run a command is about: the one it was called for, else the latest. */
function runOf(runs: Runs, id: unknown): RunSnapshot {
  const run = runs.snapshot(typeof id === 'string' ? id : (runs.latest() ?? ''));
  if (!run) {
    throw new UserError('There is no run yet.', [
      { title: 'Submit a benchmark', command: 'shardboard.submitBenchmark' },
    ]);
  }
  return run;
}

/** Cancels a run after a question: what is not answered then is never asked. Asks which when several go on. */
export async function cancelRun(runs: Runs, id: unknown): Promise<void> {
  const run = runOf(runs, id ?? (await chooseActive(runs)));
  if (hasEnded(run.status)) {
    void vscode.window.showInformationMessage('The run has ended already.');
    return;
  }
  const cancel = run.origin === 'here' ? 'Cancel run' : 'Stop run';
  const progress = `${formatCount(run.answered)} of ${countOf(run.expected, 'answer')}`;
  const message =
    run.origin === 'here'
      ? `Cancel ${runTitle(run)} after ${progress}? What came is kept in the output folder.`
      : `Stop ${runTitle(run)}? It is not a run of this window. ${originWords(run)}. ${run.origin === 'stock' ? 'All its answers are lost then.' : 'What came is kept in its output folder.'}`;
  if ((await vscode.window.showWarningMessage(message, { modal: true }, cancel)) === cancel) {
    await runs.cancel(run.id);
  }
}

async function chooseActive(runs: Runs): Promise<string | undefined> {
  const active = runs.active();
  if (active.length < 2) {
    return active[0];
  }
  const items = active.flatMap((id) => {
    const run = runs.snapshot(id);
    return run ? [{ id, label: runTitle(run), description: statusSentence(run) }] : [];
  });
  const picked = await vscode.window.showQuickPick(items, { placeHolder: 'Which run' });
  if (!picked) {
    throw new vscode.CancellationError();
  }
  return picked.id;
}

/** Opens the log of a run: as it grows, or as it is now where only Ray has it. */
export async function openRunLog(
  { runs, runLogs, jobLogs }: { runs: Runs; runLogs: RunLogs; jobLogs: JobLogs },
  id: unknown,
): Promise<void> {
  const run = runOf(runs, id);
  await (run.origin === 'stock' ? jobLogs : runLogs).show(run.id);
}

/** Opens the folder of a run: in the file manager where that is on this machine, else as a listing to open from. */
export async function openOutputFolder(runs: Runs, id: unknown): Promise<void> {
  const folder = vscode.Uri.file(await existing(runOf(runs, id).outputFolder, "The run's folder"));
  const isInWorkspace = vscode.workspace.getWorkspaceFolder(folder) !== undefined;
  await vscode.commands.executeCommand(isInWorkspace ? 'revealInExplorer' : 'revealFileInOS', folder);
}

export async function openBundle(runs: Runs, id: unknown): Promise<void> {
  const run = runOf(runs, id);
  if (!run.bundlePath) {
    throw new UserError('This run has no result bundle: it was not merged.', [
      { title: 'Open log', command: 'shardboard.openRunLog', args: [run.id] },
    ]);
  }
  await vscode.window.showTextDocument(vscode.Uri.file(await existing(run.bundlePath, 'The bundle')));
}

async function existing(path: string, what: string): Promise<string> {
  try {
    await access(path);
    return path;
  } catch (error) {
    throw new UserError(`${what} is not on this machine: ${path}. It is on the machine that ran the driver.`, [], {
      cause: error,
    });
  }
}
