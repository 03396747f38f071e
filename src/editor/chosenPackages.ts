import type * as vscode from 'vscode';
import { createDisposables, createEmitter, type Disposable, type Event } from '../common/emitter';
import { findGym, type GymInstallation } from '../gym/gymInstallation';
import type { InterpreterFinder } from '../python/interpreterFinder';
import { findSitePackages } from '../python/sitePackages';
import { folderFor } from './workspaceSourceFiles';

/** The packages of the chosen interpreters. They are looked for when somebody asks first; no Python of the workspace is run. */
export interface ChosenPackages extends Disposable {
  /** Fires when folders have been found, and when another interpreter is chosen. */
  readonly onDidChange: Event<void>;
  /** The folders with the packages that a file can import, as far as they have been found. */
  folders(path: string): readonly string[];
  /** The nemo-gym that runs a file; undefined when there is none, or no interpreter. */
  gym(path: string): Promise<GymInstallation | undefined>;
}

interface Packages {
  readonly folders: readonly string[];
  readonly gym: GymInstallation | undefined;
}

const NOTHING: Packages = { folders: [], gym: undefined };

/** What was found for one folder of the workspace. */
interface Look {
  readonly finding: Promise<Packages>;
  found: Packages;
}

export function createChosenPackages(interpreters: InterpreterFinder): ChosenPackages {
  const disposables = createDisposables();
  const changed = disposables.add(createEmitter<void>());
  /** By the folder of the workspace: each may have an interpreter of its own. */
  const looks = new Map<string, Look>();

  const lookFor = (path: string): Look => {
    const folder = folderFor(path);
    const key = folder?.uri.toString() ?? '';
    const known = looks.get(key);
    if (known) {
      return known;
    }
    const look: Look = { finding: find(interpreters, folder), found: NOTHING };
    looks.set(key, look);
    void look.finding.then((packages) => {
      if (looks.get(key) === look && packages.folders.length > 0) {
        look.found = packages;
        changed.fire();
      }
    });
    return look;
  };

  disposables.add(
    interpreters.onDidChange(() => {
      if (looks.size > 0) {
        looks.clear();
        changed.fire();
      }
    }),
  );

  return {
    onDidChange: changed.event,
    folders: (path) => lookFor(path).found.folders,
    gym: async (path) => (await lookFor(path).finding).gym,
    dispose: () => disposables.dispose(),
  };
}

async function find(interpreters: InterpreterFinder, folder: vscode.WorkspaceFolder | undefined): Promise<Packages> {
  try {
    const { path } = await interpreters.find(folder);
    const installed = await findSitePackages(path);
    const gym = await findGym(installed);
    // An editable nemo-gym stands elsewhere.
    return { folders: gym && !installed.includes(gym.root) ? [...installed, gym.root] : installed, gym };
  } catch {
    // No interpreter has been chosen yet: whoever runs something says so.
    return NOTHING;
  }
}
