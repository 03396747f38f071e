import * as vscode from 'vscode';
import { parsePreset, type RunPreset, writtenPreset } from '../benchmark/runPreset';
import { UserError } from '../common/userError';
import { workspaceFolder } from './newRun';

const SETTING = 'presets';

/** The presets as they stand in the settings, by name, unread: one that is wrong must not hide the others. */
function written(folder = workspaceFolder()): Readonly<Record<string, unknown>> {
  return vscode.workspace.getConfiguration('shardboard', folder).get<Record<string, unknown>>(SETTING, {});
}

/** The names of the presets, as they are sorted by people. */
export function presetNames(folder = workspaceFolder()): readonly string[] {
  return Object.keys(written(folder)).sort((a, b) => a.localeCompare(b));
}

/**
 * The preset with this name.
 *
 * @param folder whose settings count
 * @throws UserError when there is none, or it cannot be read.
 */
export function presetNamed(name: string, folder = workspaceFolder()): RunPreset {
  const all = written(folder);
  if (!Object.hasOwn(all, name)) {
    const names = presetNames(folder);
    const known = names.length === 0 ? 'There are none yet' : `There are: ${names.join(', ')}`;
    throw new UserError(`There is no preset "${name}" in the setting shardboard.presets. ${known}.`, [
      { title: 'Open setting', command: 'shardboard.openSetting', args: ['shardboard.presets'] },
    ]);
  }
  return parsePreset(`the preset "${name}" in the setting shardboard.presets`, all[name]);
}

/** In a few words what a preset runs; what is wrong with it when it cannot be read. */
export function presetDescription(name: string): string {
  try {
    const { benchmark, modelId, shards } = presetNamed(name);
    return `${benchmark} · ${modelId}, ${shards === 1 ? '1 shard' : `${shards} shards`}`;
  } catch (error) {
    if (error instanceof UserError) {
      return 'Cannot be read; edit it';
    }
    throw error;
  }
}

/** Asks for a name and keeps the preset in the workspace's settings, where others that share it find it too. */
export async function savePreset(preset: RunPreset): Promise<void> {
  const before = written();
  const name = await vscode.window.showInputBox({
    title: 'Save as preset',
    prompt: 'Name of the preset. It goes into the setting shardboard.presets, with no key in it',
    validateInput: (text) =>
      text.trim() === ''
        ? 'A name is needed'
        : Object.hasOwn(before, text.trim())
          ? {
              message: 'Takes the place of the preset with this name',
              severity: vscode.InputBoxValidationSeverity.Warning,
            }
          : undefined,
  });
  if (name === undefined) {
    throw new vscode.CancellationError();
  }
  const place = placeForNew();
  await update(place, { ...writtenIn(place), [name.trim()]: writtenPreset(preset) });
}

/** Takes a preset out of the settings, after a question. */
export async function deletePreset(name: string): Promise<void> {
  const answer = 'Delete';
  if ((await vscode.window.showWarningMessage(`Delete the preset "${name}"?`, { modal: true }, answer)) === answer) {
    for (const place of PLACES) {
      const { [name]: found, ...others } = writtenIn(place);
      if (found !== undefined) {
        await update(place, others);
      }
    }
  }
}

/** Where settings can stand, with what each is called by `inspect`. VS Code shows what stands in all of them together. */
const PLACES = ['globalValue', 'workspaceValue', 'workspaceFolderValue'] as const;
type Place = (typeof PLACES)[number];

const TARGETS: Readonly<Record<Place, vscode.ConfigurationTarget>> = {
  globalValue: vscode.ConfigurationTarget.Global,
  workspaceValue: vscode.ConfigurationTarget.Workspace,
  workspaceFolderValue: vscode.ConfigurationTarget.WorkspaceFolder,
};

/** Beside the benchmarks, for all who share the folder. */
function placeForNew(): Place {
  const count = vscode.workspace.workspaceFolders?.length ?? 0;
  return count === 0 ? 'globalValue' : count === 1 ? 'workspaceValue' : 'workspaceFolderValue';
}

function writtenIn(place: Place): Readonly<Record<string, unknown>> {
  const settings = vscode.workspace.getConfiguration('shardboard', workspaceFolder());
  return settings.inspect<Record<string, unknown>>(SETTING)?.[place] ?? {};
}

async function update(place: Place, presets: Readonly<Record<string, unknown>>): Promise<void> {
  const settings = vscode.workspace.getConfiguration('shardboard', workspaceFolder());
  await settings.update(SETTING, presets, TARGETS[place]);
}
