import * as vscode from 'vscode';
import {
  type ClusterAccess,
  isToken,
  parseHeader,
  type TokenSource,
  tokenSourcesOfRay,
  withHeader,
} from '../cluster/clusterAccess';
import { type ClusterOrigin, dashboardOf, discoverClusters, type FoundCluster } from '../cluster/discoverClusters';
import { type JoinQuestions, joinWithAccess } from '../cluster/joinCluster';
import type { ClusterService } from '../cluster/service';
import { UserError } from '../common/userError';
import { normaliseAddress } from '../ray/address';
import type { JoinedStore } from './joinedStore';

export interface JoinDependencies {
  readonly cluster: ClusterService;
  readonly store: JoinedStore;
  readonly readCa: () => Promise<string | undefined>;
  /** The dashboard of the cluster that was started here, by this window or another. */
  readonly startedUrl: () => Promise<string | undefined>;
}

const TITLE = 'Join Ray cluster';

/**
 * Joins a cluster: one of those that are found, or one whose address is typed.
 *
 * @param proposed the address, when an error offered one to join
 * @param options `askFirst` asks for a token or a header before anything is tried
 */
export async function joinCluster(dependencies: JoinDependencies, proposed: unknown, options: unknown): Promise<void> {
  const { cluster, store } = dependencies;
  const url = typeof proposed === 'string' ? normaliseAddress(proposed) : await chooseAddress(dependencies);
  if (url.replace('//localhost', '//127.0.0.1') === (await dependencies.startedUrl())) {
    // Ours, started by another window: found again, it is started here too, and can be stopped.
    await cluster.refresh();
    if (cluster.state().kind === 'running') {
      return;
    }
  }
  await joinWithAccess({
    url,
    join: async (joined) => {
      const progress = { location: vscode.ProgressLocation.Notification, title: `Joining ${url}` };
      await vscode.window.withProgress(progress, () => cluster.join(joined));
    },
    kept: await store.accessTo(url),
    sources: await tokenSourcesOfRay(),
    questions: questionsAbout(url),
    askFirst: typeof options === 'object' && options !== null && 'askFirst' in options,
  });
}

interface ClusterItem extends vscode.QuickPickItem {
  /** None of the one that leads to an address of one's own. */
  readonly url?: string;
}

const ANOTHER: ClusterItem = {
  label: 'Another address…',
  description: 'The address of a dashboard, as it stands in the browser',
  alwaysShow: true,
};

async function chooseAddress(dependencies: JoinDependencies): Promise<string> {
  const discovery = discover(dependencies);
  const { item, typed } = await pickCluster(discovery);
  return item.url ?? (await typeAddress(dependencies, await discovery, typed));
}

/**
 * Shows the clusters as soon as they are found; who has an address may type it here. The choices are set once: VS Code tells
 * what was chosen by its place in the list, so that a click on its way while they change would choose another one.
 */
function pickCluster(discovery: Promise<readonly FoundCluster[]>): Promise<{ item: ClusterItem; typed: string }> {
  const pick = vscode.window.createQuickPick<ClusterItem>();
  Object.assign(pick, {
    title: TITLE,
    placeholder: 'A cluster that was found near, or the address of another one',
    matchOnDescription: true,
    ignoreFocusOut: true,
    busy: true,
  });
  return new Promise<{ item: ClusterItem; typed: string }>((resolve, reject) => {
    pick.onDidAccept(() => {
      const [item] = pick.selectedItems;
      if (item) {
        resolve({ item, typed: pick.value.trim() });
      }
    });
    pick.onDidHide(() => reject(new vscode.CancellationError()));
    discovery.then((found) => {
      pick.items = [...found.map(itemOf), ANOTHER];
      pick.busy = false;
    }, reject);
    pick.show();
  }).finally(() => pick.dispose());
}

async function discover({ startedUrl, readCa }: JoinDependencies): Promise<readonly FoundCluster[]> {
  return await discoverClusters({ startedUrl: await startedUrl(), ca: await readCa() });
}

function itemOf({ url, version, folder, origins }: FoundCluster): ClusterItem {
  const words: Readonly<Record<ClusterOrigin, string>> = {
    started: 'started by Shardboard',
    process: 'runs on this machine',
    gym: 'used by the NeMo Gym that runs',
    RAY_ADDRESS: 'named by RAY_ADDRESS',
    RAY_API_SERVER_ADDRESS: 'named by RAY_API_SERVER_ADDRESS',
    usual: "answers at Ray's usual address",
  };
  // What is said only of those of which nothing else is known.
  const said = origins.length > 1 ? origins.filter((origin) => origin !== 'usual') : origins;
  // Of ours the token is known.
  const what = version ? [`Ray ${version.rayVersion}`] : origins.includes('started') ? [] : ['asks for a token'];
  const detail = [version?.sessionName, folder === undefined ? undefined : `in ${folder}`].filter(Boolean).join(' ');
  return {
    url,
    label: new URL(url).host,
    description: [...what, ...said.map((one) => words[one])].join(', '),
    ...(detail !== '' && { detail }),
  };
}

async function typeAddress(
  dependencies: JoinDependencies,
  found: readonly FoundCluster[],
  proposed: string,
): Promise<string> {
  const typed = await vscode.window.showInputBox({
    title: TITLE,
    prompt: "Address of the cluster's dashboard, or auto for the one on this machine",
    value: proposed || 'http://127.0.0.1:8265',
    ignoreFocusOut: true,
    validateInput: (text) => (isAuto(text) ? undefined : problemOf(text)),
  });
  if (typed === undefined) {
    throw new vscode.CancellationError();
  }
  if (isAuto(typed)) {
    const [only, ...others] = found;
    if (!only) {
      throw new UserError('No Ray cluster was found on this machine. Start one, or join one by its address.', [
        { title: 'Start Ray', command: 'shardboard.startCluster' },
      ]);
    }
    return others.length === 0 ? only.url : await chooseAddress(dependencies);
  }
  const dashboard = dashboardOf(found, typed);
  if (dashboard !== undefined) {
    throw new UserError(
      `${typed.trim()} is the address of a cluster's control store. Benchmarks go through its dashboard, which is at ${dashboard}.`,
      [{ title: `Join ${dashboard}`, command: 'shardboard.joinCluster', args: [dashboard] }],
    );
  }
  return normaliseAddress(typed);
}

function isAuto(text: string): boolean {
  return text.trim().toLowerCase() === 'auto';
}

/** What is wrong with an address. With a way out it can be confirmed: the error then offers that as a button. */
function problemOf(text: string): string | vscode.InputBoxValidationMessage | undefined {
  try {
    normaliseAddress(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof UserError)) {
      throw error;
    }
    return error.actions.length === 0
      ? error.message
      : { message: error.message, severity: vscode.InputBoxValidationSeverity.Info };
  }
}

function questionsAbout(url: string): JoinQuestions {
  const { host } = new URL(url);
  return {
    async access(refusal, sources, before) {
      const items: (vscode.QuickPickItem & { ask: () => Promise<ClusterAccess> })[] = [
        {
          label: 'Enter a token…',
          description: "Kept in VS Code's secret storage, for this address only",
          ask: async () => ({ ...before, token: { from: 'typed', token: await typeToken(host) } }),
        },
        ...sources.map((token) => ({
          label: labelOf(token),
          description: 'Where Ray itself looks for one on this machine',
          ask: async () => ({ ...before, token }),
        })),
        {
          label: 'Add a header…',
          description: 'For a proxy in front of Ray. Kept like a token',
          ask: async () => withHeader(before, await typeHeader(host)),
        },
      ];
      const title = `${TITLE}: ${host}`;
      const placeHolder = refusal?.message ?? `How ${host} lets you in`;
      const picked = await vscode.window.showQuickPick(items, { title, placeHolder, ignoreFocusOut: true });
      if (!picked) {
        throw new vscode.CancellationError();
      }
      return await picked.ask();
    },
    async sendReadable() {
      const send = 'Send it';
      const message = `What you enter goes to ${host} in clear.`;
      const detail =
        'The address starts with http://, so everybody on the way can read it, and with it run programs on the cluster. Use https, or a port that is forwarded by ssh, where you can.';
      if ((await vscode.window.showWarningMessage(message, { modal: true, detail }, send)) !== send) {
        throw new vscode.CancellationError();
      }
    },
  };
}

function labelOf(token: TokenSource): string {
  return token.from === 'file' ? `Token in ${token.path}` : 'Token in RAY_AUTH_TOKEN';
}

async function typeToken(host: string): Promise<string> {
  const problem = 'A token, without spaces';
  const text = await typeSecret(host, "The cluster's token", (typed) => (isToken(typed) ? undefined : problem));
  return text.trim();
}

async function typeHeader(host: string): Promise<{ name: string; value: string }> {
  const check = (typed: string): string | undefined => {
    const header = parseHeader(typed);
    return 'problem' in header ? header.problem : undefined;
  };
  const header = parseHeader(await typeSecret(host, 'A header: its name, a colon and its value', check));
  if ('problem' in header) {
    throw new vscode.CancellationError();
  }
  return header;
}

async function typeSecret(
  host: string,
  prompt: string,
  problemIn: (text: string) => string | undefined,
): Promise<string> {
  const typed = await vscode.window.showInputBox({
    title: `${TITLE}: ${host}`,
    prompt,
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) => problemIn(text.trim()),
  });
  if (typed === undefined) {
    throw new vscode.CancellationError();
  }
  return typed;
}
