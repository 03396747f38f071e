import { html, type TemplateResult } from 'lit/html.js';
import type { Tone } from './words';

/** A codicon as decoration: the words beside it carry the meaning. */
export function icon(name: string, tone?: Tone): TemplateResult {
  return html`<span class="codicon codicon-${name} ${tone === undefined ? '' : `tone-${tone}`}" aria-hidden="true"></span>`;
}
