/** The composition root: makes the parts and hands them to each other. */
import { delimiter, isAbsolute, join } from 'node:path';
import * as v from 'valibot';
import * as vscode from 'vscode';
import { withOthers } from './benchmark/allRuns';
import { createOtherRuns } from './benchmark/otherRuns';
import { createPracticeModel } from './benchmark/practiceModel';
import type { RunPreset } from './benchmark/runPreset';
import { createRuns } from './benchmark/runs';
import { readCaFile } from './cluster/clusterAccess';
import { loadClusterRecord } from './cluster/clusterRecord';
import { type ClusterState, createClusterService } from './cluster/service';
import { addRayEnabled } from './commands/addRayEnabled';
import { checkEnvironment } from './commands/checkEnvironment';
import {
  copyAddress,
  copyDashboardToken,
  leaveCluster,
  openDashboard,
  startCluster,
  stopCluster,
} from './commands/clusterCommands';
import { nameOfCluster } from './commands/clusterForRuns';
import { handToTerminals } from './commands/clusterInTerminals';
import { clusterResources, isClusterKept, onDidChangeKept } from './commands/clusterSettings';
import { continueRun, extendRun, scoreAgain } from './commands/continueRun';
import { type CopyForm, copyRun, presetOfRun } from './commands/copyRun';
import { createEvaluatorOffer } from './commands/evaluatorOffer';
import { filterServers } from './commands/filterServers';
import { findWorkspaceBenchmarks } from './commands/findWorkspaceBenchmarks';
import { goToConfiguration } from './commands/goToConfiguration';
import { goToServer } from './commands/goToServer';
import { installPackageCommand } from './commands/installPackage';
import { inTrust } from './commands/inTrust';
import { clientOf, copyJobId, jobOf, openJobLog, stopJob } from './commands/jobCommands';
import { joinCluster } from './commands/joinCluster';
import { createJoinedStore } from './commands/joinedStore';
import { createModelKeys } from './commands/modelKeys';
import { openSetting } from './commands/openSetting';
import { savePreset } from './commands/presets';
import { refreshServers } from './commands/refreshServers';
import { registerCommand, showError } from './commands/register';
import { cancelRun, openBundle, openOutputFolder, openRunLog } from './commands/runCommands';
import { runServer } from './commands/runServer';
import { registerRunTasks } from './commands/runTasks';
import { createServerTerminals } from './commands/serverTerminals';
import { folderOf, setUpEnvironment } from './commands/setUpEnvironment';
import { stopServer } from './commands/stopServer';
import { submitBenchmark } from './commands/submitBenchmark';
import { togglePracticeModel } from './commands/togglePracticeModel';
import { writeConfiguration } from './commands/writeConfiguration';
import { messageOf, UserError } from './common/userError';
import { createChosenPackages } from './editor/chosenPackages';
import { registerCodeLenses } from './editor/codeLenses';
import { registerConfigurationLenses } from './editor/configurationLenses';
import { registerProblems } from './editor/problems';
import { registerQuickFixes } from './editor/quickFixes';
import { createWorkspaceSourceFiles, pathOf, watchSourceFiles, workspaceRoots } from './editor/workspaceSourceFiles';
import { createConfigurationIndex } from './gym/configurationIndex';
import { createReaderThreads } from './gym/readerThreads';
import { createServerIndex, type ServerIndex } from './gym/serverIndex';
import { createServerReadings } from './gym/serverReadings';
import { createInterpreterFinder, resolveVariables } from './python/interpreterFinder';
import { createPythonParser } from './python/parser';
import { followAttention } from './views/attention';
import { registerClusterView } from './views/clusterView';
import { registerJobLogs } from './views/jobLogs';
import { registerResultsPanels } from './views/resultsPanel';
import { registerResultsView } from './views/resultsView';
import { registerRunLogs } from './views/runLogs';
import type { ServersNode } from './views/serversTree';
import { registerServersView } from './views/serversView';
import { registerStatusBar } from './views/statusBar';

/** What is read of our own package.json. */
const Manifest = v.object({
  contributes: v.object({
    commands: v.array(v.object({ command: v.string(), title: v.string(), category: v.string() })),
  }),
});

/** What must be on disk before the window goes. */
let flush: (() => Promise<void>) | undefined;

export async function deactivate(): Promise<void> {
  await flush?.();
}

/** What others may read of the extension; the tests do. */
export interface Exports {
  /** The lines of the Servers view. */
  readonly servers: vscode.TreeDataProvider<ServersNode>;
  /** The lines of the Cluster view, by their ids. */
  readonly cluster: vscode.TreeDataProvider<string>;
}

export function activate(context: vscode.ExtensionContext): Exports {
  const log = vscode.window.createOutputChannel('Shardboard', { log: true });
  const keep = <T extends vscode.Disposable>(item: T): T => {
    context.subscriptions.push(item);
    return item;
  };
  keep(log);
  const logError = (message: string): void => log.error(message);

  const parser = keep(createPythonParser(join(context.extensionPath, 'dist')));

  const interpreters = keep(createInterpreterFinder((message) => log.info(message)));

  const globalFolder = context.globalStorageUri.fsPath;
  const joined = createJoinedStore(context);
  const cluster = keep(
    createClusterService({
      storageFolder: globalFolder,
      resolvePython: pythonForCluster,
      watcher: join(context.extensionPath, 'dist', 'clusterWatcher.js'),
      resources: clusterResources,
      isKept: isClusterKept,
      joined,
      readCa,
    }),
  );
  keep(onDidChangeKept(() => void cluster.updateKept().catch((error) => logError(messageOf(error)))));
  const practiceModel = keep(
    createPracticeModel({
      script: join(context.extensionPath, 'samples', 'practice_model.mjs'),
      node: process.execPath,
      storageFolder: globalFolder,
    }),
  );
  let isClusterKnown = false;
  let clusterWas: ClusterState['kind'] = 'none';
  const reachableSession = (): string | undefined => {
    const state = cluster.state();
    return state.kind === 'running' || state.kind === 'stopping' ? state.sessionName : undefined;
  };
  const runs = keep(
    createRuns({
      storageFolder: join((context.storageUri ?? context.globalStorageUri).fsPath, 'runs'),
      driverFolder: join(context.extensionPath, 'driver'),
      clientFor: (session) => (reachableSession() === session ? cluster.client() : undefined),
      isClusterKnown: () => isClusterKnown,
      logError,
    }),
  );

  const others = keep(
    createOtherRuns({
      cluster() {
        const state = cluster.state();
        const client = cluster.client();
        return state.kind === 'running' && client
          ? { name: nameOfCluster(state), sessionName: state.sessionName, client }
          : undefined;
      },
      isOwn: (id) => runs.snapshot(id) !== undefined,
      logError,
    }),
  );
  keep(cluster.onDidLook(() => others.see(cluster.activity().jobs ?? [])));
  const allRuns = withOthers(runs, others);

  flush = () => runs.flush();
  const evaluatorOffer = keep(createEvaluatorOffer(runs, (error) => void showError(error, log)));

  const panels = keep(registerResultsPanels(context, allRuns, runAction));
  keep(registerResultsView(context, allRuns, runAction));
  const clusterView = keep(registerClusterView(cluster, allRuns));
  keep(registerStatusBar(cluster, allRuns));
  const logs = keep(registerRunLogs(allRuns));
  const jobLogs = keep(registerJobLogs((id) => clientOf(cluster).jobLogs(id)));
  const files = createWorkspaceSourceFiles();
  const packages = keep(createChosenPackages(interpreters));
  const dist = join(context.extensionPath, 'dist');
  const readers = keep(createReaderThreads({ program: join(dist, 'readerWorker.js'), wasmFolder: dist }));
  const servers = keep(
    createServerIndex({
      files,
      read: readers.read,
      roots: workspaceRoots,
      installed: packages.folders,
      onError: logError,
    }),
  );
  const imports: Pick<ServerIndex, 'read'> = {
    async read(path) {
      // A base may be in a package: before those are known, it would seem to be missing.
      await packages.gym(path);
      return servers.read(path);
    },
  };
  const readings = keep(
    createServerReadings(parser, { ...servers, ...imports }, ({ uri }: vscode.TextDocument) => pathOf(uri)),
  );
  keep(vscode.workspace.onDidCloseTextDocument((document) => readings.close(document)));
  keep(
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      // What is typed is read when its editor asks for it.
      if (!document.isDirty) {
        readings.readAgain(document).catch((error) => logError(messageOf(error)));
      }
    }),
  );
  keep(
    registerCodeLenses({
      readings: { read: readings.read, onDidChange: servers.onDidChange },
      cluster: { rayState: () => cluster.state().kind, onDidChange: cluster.onDidChange },
      onError: (error) => logError(messageOf(error)),
    }),
  );
  const gymVersion = async (path: string) => (await packages.gym(path))?.version ?? 'unknown';
  const problems = keep(
    registerProblems({
      parser,
      readings: { read: readings.read, onDidChange: servers.onDidChange },
      contextOf: async (path) => ({
        gym: await gymVersion(path),
        rayUse: (await servers.findRayUse(path)) ?? 'unknown',
      }),
      documentation: vscode.Uri.joinPath(context.extensionUri, 'docs', 'problems.md'),
      onError: (error) => logError(messageOf(error)),
    }),
  );
  keep(registerQuickFixes(parser, problems));
  const configurations = keep(
    createConfigurationIndex({
      files,
      servers,
      roots: workspaceRoots,
      extraRoots: (process.env.NEMO_GYM_EXTRA_ROOTS ?? '').split(delimiter).filter(isAbsolute),
      installRoot: async (path) => (await packages.gym(path))?.root,
    }),
  );
  const onGymError = (error: unknown): void => logError(messageOf(error));
  const terminals = keep(createServerTerminals(join(dist, 'serverKeeper.js')));
  keep(
    terminals.onDidChange(() => {
      const isRunning = terminals.running().length > 0;
      void vscode.commands.executeCommand('setContext', 'shardboard.serverRunning', isRunning);
    }),
  );
  keep(registerConfigurationLenses({ configurations, gymVersion, running: terminals, onError: onGymError }));
  const serversView = keep(
    registerServersView({ servers, configurations, gymVersion, running: terminals, onError: onGymError }),
  );
  keep(
    watchSourceFiles(
      () => [...servers.files().keys(), ...configurations.configurations().keys()],
      (paths) => {
        servers.update(paths.filter((path) => path.endsWith('.py')));
        configurations.update(paths);
      },
    ),
  );
  keep(
    packages.onDidChange(() => {
      servers.update([...servers.files().keys()]);
      configurations.update([]);
    }),
  );
  keep(
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      if (configurations.isComplete()) {
        void refreshServers(files, servers, configurations).catch(onGymError);
      }
    }),
  );

  keep(cluster.onDidChange(updateContext));
  keep(handToTerminals(context.environmentVariableCollection, cluster, (error) => logError(messageOf(error))));
  keep(cluster.onDidChange(tellOfLoss));

  const keys = createModelKeys(context);
  const command = (id: string, run: (...args: readonly unknown[]) => Promise<void>): void => {
    keep(registerCommand(`shardboard.${id}`, log, run));
  };
  command('startCluster', () => inTrust(() => startCluster(cluster)));
  command('stopCluster', () => stopCluster(cluster, runs));
  const startedUrl = async () => (await loadClusterRecord(globalFolder))?.dashboardUrl;
  command('joinCluster', (address, options) =>
    inTrust(() => joinCluster({ cluster, store: joined, readCa, startedUrl }, address, options)),
  );
  command('leaveCluster', () => leaveCluster(cluster, runs));
  command('showCluster', async () => {
    await vscode.commands.executeCommand('shardboard.cluster.focus');
  });
  command('openDashboard', (line) => openDashboard(cluster, line));
  command('copyAddress', () => copyAddress(cluster));
  command('refreshCluster', () => cluster.refresh());
  // For the menus of the Cluster view; not in the palette.
  command('showRun', async (line) => panels.show(jobOf(line)));
  command('openJobLog', (line) => openJobLog({ cluster, runs: allRuns, runLogs: logs, jobLogs }, line));
  command('stopJob', (line) => stopJob({ cluster, runs: allRuns, runLogs: logs, jobLogs }, line));
  command('copyJobId', copyJobId);
  command('copyDashboardToken', () => copyDashboardToken(cluster));
  const continuing = { cluster, runs, submit: evaluatorOffer.submit, practiceModel, keys };
  const submitting = {
    ...continuing,
    context,
    findBenchmarks: () => findWorkspaceBenchmarks(parser),
    copy: (preset: RunPreset, form: CopyForm) => copyRun(continuing, preset, form),
  };
  command('submitBenchmark', async () => panels.show(await inTrust(() => submitBenchmark(submitting))));
  // For the button of an error; not in the palette.
  command('submitWithEvaluator', async (id) => panels.show(await inTrust(() => evaluatorOffer.take(id))));
  // A button in a title bar hands over what it stands above, which is no id.
  const shown = (id: unknown) => (typeof id === 'string' ? id : panels.active());
  command('continueRun', async (id) => panels.show(await inTrust(() => continueRun(continuing, shown(id)))));
  command('extendRun', async (id) => panels.show(await inTrust(() => extendRun(continuing, shown(id)))));
  command('scoreAgain', async (id) => panels.show(await inTrust(() => scoreAgain(continuing, shown(id)))));
  const copyAs = (id: unknown, form: CopyForm) =>
    inTrust(() => copyRun(continuing, presetOfRun(runs, shown(id)), form));
  command('copyRunAsRayJob', (id) => copyAs(id, 'shell'));
  command('copyRunAsPython', (id) => copyAs(id, 'python'));
  command('savePreset', (id) => savePreset(presetOfRun(runs, shown(id))));
  keep(registerRunTasks({ ...continuing, titleOf: commandTitle }));
  command('cancelRun', (id) => cancelRun(allRuns, id ?? panels.active()));
  command('showResults', async (id) => {
    const run = typeof id === 'string' ? id : runs.latest();
    if (run === undefined) {
      await vscode.commands.executeCommand('shardboard.results.focus');
    } else {
      panels.show(run);
    }
  });
  command('openRunLog', (id) => openRunLog({ runs: allRuns, runLogs: logs, jobLogs }, id ?? panels.active()));
  command('openOutputFolder', (id) => openOutputFolder(allRuns, id ?? panels.active()));
  command('openBundle', (id) => openBundle(allRuns, id ?? panels.active()));
  // For the buttons of errors; not in the palette.
  command('openSetting', openSetting);
  command('runServer', (target) =>
    inTrust(() => runServer({ configurations, terminals, cluster, interpreters }, target)),
  );
  // For the button of an error; not in the palette.
  command('writeConfiguration', (server) => inTrust(() => writeConfiguration(configurations, server)));
  command('stopServer', (target) => stopServer(terminals, target));
  command('goToConfiguration', (target) => goToConfiguration(configurations, target));
  command('goToServer', (target, instances) => goToServer(configurations, target, instances));
  command('filterServers', () => filterServers(serversView));
  command('clearServersFilter', async () => serversView.filter(undefined));
  command('refreshServers', () => refreshServers(files, servers, configurations));
  command('togglePracticeModel', () => inTrust(() => togglePracticeModel(practiceModel)));
  command('forgetModelKeys', async () => {
    const count = await keys.forgetAll();
    void vscode.window.showInformationMessage(
      `${count === 0 ? 'No key was' : count === 1 ? 'One key was' : `${count} keys were`} stored; none is now.`,
    );
  });
  // For the code lens; not in the palette.
  command('addRayEnabled', (uri, name, asClassVar) => addRayEnabled(parser, uri, name, asClassVar));
  command('fixAllProblems', async () => {
    const action = { kind: 'source.fixAll.shardboard', apply: 'first' };
    await vscode.commands.executeCommand('editor.action.sourceAction', action);
  });
  const wantsGym = () => servers.files().size > 0 || configurations.configurations().size > 0;
  command('setUpEnvironment', (resource) => inTrust(() => setUpEnvironment({ interpreters, log, wantsGym }, resource)));
  // For the buttons of errors; not in the palette.
  command('installPackage', (...args) => inTrust(() => installPackageCommand({ interpreters, log }, args)));
  command('showLog', async () => log.show());

  // After activation: a cluster and runs of an earlier window are found again, and go on.
  setImmediate(() => {
    restore().catch((error) => showError(error, log));
  });
  return { servers: serversView.provider, cluster: clusterView.provider };

  async function restore(): Promise<void> {
    await runs.restore();
    try {
      await cluster.restore();
    } finally {
      keep(followAttention(cluster, clusterView, allRuns, (error) => logError(messageOf(error))));
      isClusterKnown = true;
      updateContext();
    }
  }

  /** The title of one of our commands, as the palette has it. */
  function commandTitle(id: string): string | undefined {
    const { commands } = v.parse(Manifest, context.extension.packageJSON).contributes;
    const found = commands.find(({ command }) => command === id);
    return found && `${found.category}: ${found.title}`;
  }

  async function readCa(): Promise<string | undefined> {
    const folder = vscode.workspace.workspaceFolders?.[0];
    const path = vscode.workspace.getConfiguration('shardboard', folder).get<string>('caFile', '');
    return path === '' ? undefined : await readCaFile(resolveVariables(path, folder));
  }

  /** The interpreter, once it is certain that it has what a cluster needs. */
  async function pythonForCluster(): Promise<string> {
    const { path } = await interpreters.find(folderOf(undefined));
    await checkEnvironment(path, 'cluster');
    return path;
  }

  /** A cluster that went without being stopped here: nobody would look for the reason in a status bar. */
  function tellOfLoss(state: ClusterState): void {
    const was = clusterWas;
    clusterWas = state.kind;
    // A start that failed has told it already.
    if (was === 'running' && state.kind === 'none' && state.message !== undefined) {
      const actions = [{ title: 'Start Ray', command: 'shardboard.startCluster' }];
      void showError(new UserError(state.message, actions), log);
    }
  }

  function updateContext(): void {
    const state = cluster.state();
    void vscode.commands.executeCommand('setContext', 'shardboard.clusterState', state.kind);
    void vscode.commands.executeCommand(
      'setContext',
      'shardboard.clusterOrigin',
      state.kind === 'running' ? state.origin : '',
    );
  }

  function runAction(action: string, runId: string | undefined): void {
    const commands: Readonly<Record<string, string>> = {
      submit: 'submitBenchmark',
      cancel: 'cancelRun',
      openLog: 'openRunLog',
      openFolder: 'openOutputFolder',
      openBundle: 'openBundle',
      openPanel: 'showResults',
      continue: 'continueRun',
    };
    const name = commands[action];
    if (name) {
      void vscode.commands.executeCommand(`shardboard.${name}`, runId);
    }
  }
}
