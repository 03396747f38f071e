import * as vscode from 'vscode';
import type { AllRuns } from '../benchmark/allRuns';
import type { ClusterService } from '../cluster/service';
import { UserError } from '../common/userError';
import { hasEnded } from '../protocol/runSnapshot';
import type { RayClient } from '../ray/client';
import { jobOfLine } from '../views/clusterTree';
import type { JobLogs } from '../views/jobLogs';
import type { RunLogs } from '../views/runLogs';
import { cancelRun } from './runCommands';

export interface JobCommandDependencies {
  readonly cluster: ClusterService;
  readonly runs: AllRuns;
  readonly runLogs: RunLogs;
  readonly jobLogs: JobLogs;
}

/** Shows the log of a job: of a run of this window as it grows, of any other as it is now. */
export async function openJobLog({ runs, runLogs, jobLogs }: JobCommandDependencies, line: unknown): Promise<void> {
  const id = jobOf(line);
  await (runs.snapshot(id)?.origin === 'here' ? runLogs.show(id) : jobLogs.show(id));
}

/** Stops a job after a question, whoever has submitted it. */
export async function stopJob({ cluster, runs }: JobCommandDependencies, line: unknown): Promise<void> {
  const id = jobOf(line);
  const run = runs.snapshot(id);
  if (run && !hasEnded(run.status)) {
    await cancelRun(runs, id);
    await cluster.refresh();
    return;
  }
  const stop = 'Stop job';
  const message = `Stop the job ${id}? It was not submitted in this window, and may be somebody else's.`;
  if ((await vscode.window.showWarningMessage(message, { modal: true }, stop)) !== stop) {
    return;
  }
  if (!(await clientOf(cluster).stopJob(id))) {
    void vscode.window.showInformationMessage('The job has ended already.');
  }
  await cluster.refresh();
}

/** Puts the id by which Ray's own tools know a job on the clipboard. */
export async function copyJobId(line: unknown): Promise<void> {
  const id = jobOf(line);
  await vscode.env.clipboard.writeText(id);
  void vscode.window.showInformationMessage(`${id} is on the clipboard.`);
}

export function clientOf(cluster: ClusterService): RayClient {
  const client = cluster.client();
  if (!client) {
    throw new UserError('No Ray cluster is running here.');
  }
  return client;
}

/** The submission id of the job whose line a command was called for. */
export function jobOf(line: unknown): string {
  const id = jobOfLine(line);
  if (id === undefined) {
    throw new UserError('Choose a job in the Cluster view.', [
      { title: 'Show cluster', command: 'shardboard.showCluster' },
    ]);
  }
  return id;
}
