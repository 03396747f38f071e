import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { RunSnapshot } from '../protocol/runSnapshot';
import { goesOn, hasEnded } from '../protocol/runSnapshot';
import { actionButton, type SendAction } from './actions';
import { countOf, formatAgo, formatCount, formatDuration, formatRate } from './format';
import { icon } from './icon';
import { benchmarkName, originWords, statusLook, statusSentence } from './words';

/** Which run it is, how it stands, and what can be done with it. */
export function head(run: RunSnapshot, place: string, now: number, send: SendAction): TemplateResult {
  const look = statusLook(run.status);
  const going = goesOn(run.status);
  return html`
    <header class="head">
      <div class="head-title">
        <h1 title="${run.benchmark} · ${run.modelId}">
          ${benchmarkName(run.benchmark)}<span class="head-model"> · ${run.modelId}</span>
        </h1>
        <p class="head-shape dim" title="On the cluster ${run.clusterName}">${shape(run)}</p>
        ${run.origin === 'here' ? nothing : html`<p class="head-shape dim" data-testid="origin">${originWords(run)}</p>`}
      </div>
      <div class="head-actions">
        ${going ? actionButton('cancel', run.origin === 'here' ? 'Cancel' : 'Stop', 'debug-stop', send) : nothing}
        ${lacksAnswers(run) ? actionButton('continue', 'Ask what is missing', 'debug-continue', send) : nothing}
        ${place === 'view' ? actionButton('openPanel', 'Open in editor', 'go-to-file', send) : nothing}
        ${actionButton('openLog', 'Open log', 'output', send)}
        ${actionButton('openFolder', 'Open folder', 'folder-opened', send)}
        ${run.bundlePath === null ? nothing : actionButton('openBundle', 'Open bundle', 'json', send)}
      </div>
      <div class="head-state">
        <span class="state" data-testid="run-status" data-status=${run.status}>
          ${icon(look.icon, look.tone)}<span>${statusSentence(run)}</span>
        </span>
        <span class="figures dim">${figures(run, now)}</span>
      </div>
      ${run.message !== null && going ? html`<p class="dim">${run.message}</p>` : nothing}
      <div
        class="overall"
        role="progressbar"
        aria-label="Answers of the run"
        aria-valuemin="0"
        aria-valuemax=${run.expected}
        aria-valuenow=${Math.min(run.answered, run.expected)}
        aria-valuetext="${formatCount(run.answered)} of ${countOf(run.expected, 'answer')}"
      >
        <progress class="overall-bar ${going ? 'going' : ''}" max=${Math.max(1, run.expected)} .value=${run.answered} aria-hidden="true"></progress>
      </div>
    </header>
  `;
}

/** Whether asking again may bring answers that are not there. */
function lacksAnswers(run: RunSnapshot): boolean {
  return run.origin === 'here' && !goesOn(run.status) && run.status !== 'complete';
}

function shape(run: RunSnapshot): string {
  const { waiting, running, finished, failed } = run.shardCounts ?? { waiting: 0, running: 0, finished: 0, failed: 0 };
  const shards = run.shards.length || waiting + running + finished + failed;
  const parts = [
    ...(shards === 0 ? [] : [countOf(shards, 'shard')]),
    countOf(run.repeats, 'repeat'),
    ...(run.problems === 0 ? [] : [countOf(run.problems, 'problem')]),
  ];
  return `${parts.join(' × ')} · ${run.clusterName}`;
}

function figures(run: RunSnapshot, now: number): TemplateResult[] {
  const elapsed = (run.endedAt ?? (run.status === 'lost' ? run.lastHeardAt : null) ?? now) - run.submittedAt;
  const items: [name: string, text: string, explanation: string][] = [
    ['elapsed', `${formatDuration(elapsed)} elapsed`, 'Since the run was submitted'],
  ];
  if (run.answered > 0 && elapsed > 0) {
    items.push(['rate', formatRate(run.answered / (elapsed / 1000)), 'Mean since the run was submitted']);
  }
  if (run.tokens > 0) {
    items.push(['tokens', countOf(run.tokens, 'token'), 'Tokens of the answers so far']);
  }
  if (run.lastHeardAt !== null && !hasEnded(run.status)) {
    items.push(['last-heard', `last heard ${formatAgo(now - run.lastHeardAt)}`, 'When the cluster last answered']);
  }
  return items.map(([name, text, explanation]) => html`<span data-testid=${name} title=${explanation}>${text}</span>`);
}
