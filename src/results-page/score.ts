import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { RunSnapshot } from '../protocol/runSnapshot';
import { hasEnded } from '../protocol/runSnapshot';
import { countOf, formatCount, NONE } from './format';
import { type Headline, headline, headlineText } from './headline';

/** The merged score, large, with what it stands on. */
export function mergedScore(run: RunSnapshot): TemplateResult {
  const score = headline(run);
  return html`
    <section class="score" aria-label="Merged score">
      <h2>${label(run, score)}</h2>
      <p class="score-value" data-testid="merged-score" data-value=${score?.value ?? nothing}>
        ${score === undefined ? NONE : headlineText(score)}
      </p>
      <p class="dim">${standsOn(run)}</p>
    </section>
  `;
}

function label(run: RunSnapshot, score: Headline | undefined): string {
  if (score === undefined) {
    return hasEnded(run.status) ? 'No score' : 'No score yet';
  }
  return run.status === 'complete' ? score.label : `${score.label} · partial`;
}

function standsOn(run: RunSnapshot): string {
  if (run.expected === 0) {
    return '';
  }
  return run.answered === run.expected
    ? countOf(run.answered, 'answer')
    : `${formatCount(run.answered)} of ${countOf(run.expected, 'answer')}`;
}
