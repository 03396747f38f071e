import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import * as vscode from 'vscode';
import { createDisposables, type Disposable, type Event } from '../common/emitter';
import { createThrottle } from '../common/throttle';
import { type FromPage, fromPage, type ToPage } from '../protocol/pageMessages';
import type { RunSnapshot } from '../protocol/runSnapshot';
import { fitToPage } from './resultsPageMessage';
import { webviewHtml } from './webviewHtml';

/** What a person can ask for on the page. */
export type PageAction = Extract<FromPage, { type: 'action' }>['action'];

/** Does what a person asked for on the page. The run is the one shown there, undefined for `submit`. */
export type OnPageAction = (action: PageAction, runId: string | undefined) => void;

/** At most four snapshots a second: no eye reads faster, and drawing costs. */
const SEND_EVERY_MS = 250;

/** What a results page needs from where it stands. */
export interface ResultsPageOptions {
  readonly extensionUri: vscode.Uri;
  readonly place: 'view' | 'panel';
  /** Whether anybody sees the page. */
  isVisible(): boolean;
  readonly onDidChangeVisibility: Event<unknown>;
  /** The run to draw; undefined when there is none. */
  snapshot(): RunSnapshot | undefined;
  readonly onDidChange: Event<void>;
  readonly onAction: OnPageAction;
}

/**
 * Makes a webview a results page: it shows what `snapshot` gives, for as long as the answer is not disposed.
 * A hidden page is thrown away by VS Code and drawn anew when it is shown again, so nothing is sent to it meanwhile.
 */
export function attachResultsPage(webview: vscode.Webview, options: ResultsPageOptions): Disposable {
  const disposables = createDisposables();
  const send = (): void => {
    if (options.isVisible()) {
      const run = options.snapshot();
      const message: ToPage = { type: 'snapshot', run: run === undefined ? null : fitToPage(run) };
      void webview.postMessage(message);
    }
  };
  const sender = disposables.add(createThrottle(send, SEND_EVERY_MS));

  // Before the HTML, which starts the page that says it is ready.
  disposables.add(
    webview.onDidReceiveMessage((raw: unknown) => {
      const message = v.parse(fromPage, raw);
      if (message.type === 'ready') {
        sender.now();
      } else {
        options.onAction(message.action, message.run);
      }
    }),
  );
  disposables.add(options.onDidChangeVisibility(() => sender.now()));
  disposables.add(options.onDidChange(() => sender.request()));

  const dist = vscode.Uri.joinPath(options.extensionUri, 'dist');
  const inDist = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
  webview.options = { enableScripts: true, localResourceRoots: [dist] };
  webview.html = webviewHtml({
    cspSource: webview.cspSource,
    nonce: randomBytes(16).toString('base64'),
    script: inDist('results-page.js'),
    styles: [inDist('codicon.css'), inDist('results-page.css')],
    place: options.place,
  });
  return disposables;
}
