import * as vscode from 'vscode';
import { FLAG_WORDS } from '../gym/serverFlag';
import { FLAGS } from '../views/serversTree';
import type { ServersView } from '../views/serversView';

/** Lets a person choose which servers the Servers view shows, with how many there are of each. */
export async function filterServers(view: Pick<ServersView, 'filter' | 'counts'>): Promise<void> {
  const counts = view.counts();
  const items = FLAGS.map((flag) => ({
    label: FLAG_WORDS[flag].replace(/^./, (first) => first.toUpperCase()),
    description: String(counts[flag]),
    flag,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Filter servers',
    placeHolder: 'Show the servers whose ray_enabled is',
  });
  if (chosen) {
    view.filter(chosen.flag);
  }
}
