import { html, type TemplateResult } from 'lit/html.js';
import type { FromPage } from '../protocol/pageMessages';
import { icon } from './icon';

/** What a person can ask for on the page. */
export type PageAction = Extract<FromPage, { type: 'action' }>['action'];

/** Asks the extension to do something. */
export type SendAction = (action: PageAction) => void;

/** A button with a codicon. Where there is little room only the icon shows; the label stays as its name and tooltip. */
export function actionButton(action: PageAction, label: string, iconName: string, send: SendAction): TemplateResult {
  return html`
    <button class="button" type="button" data-action=${action} title=${label} aria-label=${label} @click=${() => send(action)}>
      ${icon(iconName)}<span class="button-label">${label}</span>
    </button>
  `;
}
