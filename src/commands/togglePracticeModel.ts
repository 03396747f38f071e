import * as vscode from 'vscode';
import type { PracticeModel } from '../benchmark/practiceModel';

/** Starts the practice model with the settings' latency and share of right answers; gives its address. */
export async function startPracticeModel(practiceModel: PracticeModel): Promise<string> {
  const settings = vscode.workspace.getConfiguration('shardboard.practiceModel');
  return await practiceModel.start({
    latencyMs: settings.get<number>('latency', 200),
    rightShare: settings.get<number>('rightShare', 0.7),
  });
}

/** Starts the practice model, or stops it when it runs. */
export async function togglePracticeModel(practiceModel: PracticeModel): Promise<void> {
  await practiceModel.restore();
  if (practiceModel.url()) {
    await practiceModel.stop();
    void vscode.window.showInformationMessage('The practice model has stopped.');
    return;
  }
  const url = await startPracticeModel(practiceModel);
  void vscode.window.showInformationMessage(`The practice model answers at ${url}.`);
}
