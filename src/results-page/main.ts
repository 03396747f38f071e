/** The results page's own program: draws what the extension sends, once more each second for the clocks. */
import { render } from 'lit/html.js';
import * as v from 'valibot';
import { type FromPage, toPage } from '../protocol/pageMessages';
import { hasEnded } from '../protocol/runSnapshot';
import { type PageState, page } from './page';

/** What the page keeps while it is hidden: enough to be restored after a window reload. */
const keptState = v.object({ runId: v.string(), scrollTop: v.number() });

declare function acquireVsCodeApi(): {
  postMessage(message: FromPage): void;
  getState(): unknown;
  setState(state: v.InferOutput<typeof keptState>): void;
};

const vscode = acquireVsCodeApi();
const kept = v.safeParse(keptState, vscode.getState());
const root = document.body;

let state: PageState = { run: undefined, place: root.dataset.place ?? 'panel', now: Date.now() };
let scrollToRestore = kept.success ? kept.output : undefined;

function draw(change: Partial<PageState> = {}): void {
  state = { ...state, ...change, now: Date.now() };
  render(
    page(state, (action) => {
      const run = state.run?.id;
      vscode.postMessage({ type: 'action', action, ...(run === undefined ? {} : { run }) });
    }),
    root,
  );
}

/** Keeps which run this is and where the reader is in it. No run, nothing to keep: it may only not be read yet. */
function keep(): void {
  if (state.run) {
    vscode.setState({ runId: state.run.id, scrollTop: document.documentElement.scrollTop });
  }
}

window.addEventListener('message', (event: MessageEvent<unknown>) => {
  const message = v.parse(toPage, event.data);
  draw({ run: message.run });
  if (message.run !== null && scrollToRestore?.runId === message.run.id) {
    document.documentElement.scrollTop = scrollToRestore.scrollTop;
  }
  if (message.run !== null) {
    scrollToRestore = undefined;
  }
  keep();
});
window.addEventListener('scroll', keep, { passive: true });

setInterval(() => {
  if (state.run && !hasEnded(state.run.status)) {
    draw();
  }
}, 1000);

vscode.postMessage({ type: 'ready' });
