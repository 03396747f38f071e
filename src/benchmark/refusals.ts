import { isAbsolute, relative } from 'node:path';
import type { RunPreset } from './runPreset';

/** What is known before a run is sent. */
export interface KnownBeforeRun {
  /** How many will be asked; null when not known. */
  readonly problems: number | null;
  /** The folder in which the run gets one of its own. */
  readonly resultsFolder: string;
  /** The folders of the runs that there are. */
  readonly otherFolders: readonly string[];
}

/** Why a run cannot be sent, in a sentence that says what to change; undefined when nothing is known against it. */
export function refusalOf(preset: RunPreset, known: KnownBeforeRun): string | undefined {
  const { problems, resultsFolder, otherFolders } = known;
  if (problems !== null && preset.shards > problems) {
    return `There are ${problems} problems to ask, fewer than the ${preset.shards} shards. Choose at most ${problems} shards.`;
  }
  // The job runs in Ray's own copy of the package: what is written relative to that is never found again.
  if (!isAbsolute(resultsFolder)) {
    return 'The folder for results must be an absolute path. Open a folder in VS Code, or change the results folder.';
  }
  const other = otherFolders.find((folder) => !relative(folder, resultsFolder).startsWith('..'));
  if (other !== undefined) {
    return `The results folder lies in the folder of another run, ${other}. Choose one beside it.`;
  }
  if (preset.budget.money !== null && preset.prices === null) {
    return 'A budget in money needs the prices of the model. Set both, or a budget in tokens.';
  }
  return undefined;
}
