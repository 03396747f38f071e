import { html, type TemplateResult } from 'lit/html.js';
import type { RunSnapshot } from '../protocol/runSnapshot';
import { icon } from './icon';
import { type TrustNote, trustNotes, trustTitle } from './trustNotes';
import type { Tone } from './words';

const icons: Record<Tone, string> = {
  quiet: 'info',
  active: 'info',
  good: 'pass',
  warning: 'warning',
  bad: 'error',
};

/** The fixed place that says what weakens the score. */
export function trust(run: RunSnapshot, now: number): TemplateResult {
  const notes = trustNotes(run, now);
  const shown: TrustNote[] = notes.length === 0 ? [{ tone: 'good', text: 'Nothing weakens this score.' }] : notes;
  return html`
    <section class="trust edge-${worst(shown)}" data-testid="trust" aria-label=${trustTitle(run)}>
      <h2>${trustTitle(run)}</h2>
      <ul>
        ${shown.map((note) => html`<li>${icon(icons[note.tone], note.tone)}<span>${note.text}</span></li>`)}
      </ul>
    </section>
  `;
}

function worst(notes: readonly TrustNote[]): Tone {
  const order: Tone[] = ['bad', 'warning', 'quiet', 'good'];
  return order.find((tone) => notes.some((note) => note.tone === tone)) ?? 'quiet';
}
