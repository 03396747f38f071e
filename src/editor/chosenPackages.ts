import * as vscode from 'vscode';
import { createDisposables, createEmitter, type Disposable, type Event } from '../common/emitter';
import { findGym, type GymInstallation } from '../gym/gymInstallation';
import { findInterpreter } from '../python/interpreterFinder';
import { findSitePackages } from '../python/sitePackages';

/** The packages of the chosen interpreter. They are looked for when somebody asks first; no Python is run. */
export interface ChosenPackages extends Disposable {
  /** Fires when the folders have been found, and when another interpreter is chosen. */
  readonly onDidChange: Event<void>;
  /** The folders with packages, as far as they have been found. */
  folders(): readonly string[];
  /** The nemo-gym among them; undefined when there is none, or no interpreter. */
  gym(): Promise<GymInstallation | undefined>;
}

interface Packages {
  readonly folders: readonly string[];
  readonly gym: GymInstallation | undefined;
}

const NOTHING: Packages = { folders: [], gym: undefined };

export function createChosenPackages(): ChosenPackages {
  const disposables = createDisposables();
  const changed = disposables.add(createEmitter<void>());
  let looking: Promise<Packages> | undefined;
  let found = NOTHING;

  const look = (): Promise<Packages> => {
    if (!looking) {
      const mine = find();
      looking = mine;
      void mine.then((packages) => {
        if (looking === mine && packages.folders.length > 0) {
          found = packages;
          changed.fire();
        }
      });
    }
    return looking;
  };

  disposables.add(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (looking && change.affectsConfiguration('shardboard.pythonPath')) {
        looking = undefined;
        found = NOTHING;
        changed.fire();
      }
    }),
  );

  return {
    onDidChange: changed.event,
    folders() {
      void look();
      return found.folders;
    },
    gym: async () => (await look()).gym,
    dispose: () => disposables.dispose(),
  };
}

async function find(): Promise<Packages> {
  try {
    const { path } = await findInterpreter(vscode.workspace.workspaceFolders?.[0]);
    const installed = await findSitePackages(path);
    const gym = await findGym(installed);
    // An editable nemo-gym stands elsewhere.
    return { folders: gym && !installed.includes(gym.root) ? [...installed, gym.root] : installed, gym };
  } catch {
    // No interpreter has been chosen yet: whoever runs something says so.
    return NOTHING;
  }
}
