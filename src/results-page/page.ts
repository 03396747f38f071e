import { guard } from 'lit/directives/guard.js';
import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { RunSnapshot } from '../protocol/runSnapshot';
import type { SendAction } from './actions';
import { categories } from './categories';
import { emptyPage } from './emptyPage';
import { files } from './files';
import { finalScores } from './finalScores';
import { head } from './head';
import { headline } from './headline';
import { mergedScore } from './score';
import { shards } from './shards';
import { trust } from './trust';
import { announcement } from './words';

/** Everything the page draws from. */
export interface PageState {
  /** `undefined` before the extension has said anything, `null` when there is no run. */
  readonly run: RunSnapshot | null | undefined;
  /** Where the page stands: `view` in the side bar, `panel` in the editor area. */
  readonly place: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The whole page. */
export function page(state: PageState, send: SendAction): TemplateResult | typeof nothing {
  const { run, place, now } = state;
  if (run === undefined) {
    return nothing;
  }
  if (run === null) {
    return emptyPage(place, send);
  }
  // Where no answer reached the model the evaluator's scores are zeros that mean nothing.
  const hasScores = headline(run)?.final === true;
  return html`
    <p class="hidden" aria-live="polite" data-testid="announcement">${announcement(run)}</p>
    ${head(run, place, now, send)}
    <div class="top ${hasScores ? 'has-scores' : ''}">
      ${mergedScore(run)} ${hasScores && run.scores !== null ? finalScores(run.scores) : nothing} ${trust(run, now)}
    </div>
    ${guard([run], () => [
      shards(run),
      html`<div class="bottom">${hasScores && run.categories !== null ? categories(run.categories) : nothing} ${files(run)}</div>`,
    ])}
  `;
}
