import { html, type TemplateResult } from 'lit/html.js';
import type { SendAction } from './actions';

/**
 * The page when there is no run to draw. In the side bar nothing has been submitted yet; a panel belongs to a run,
 * which after a window reload may take a moment to be read.
 */
export function emptyPage(place: string, send: SendAction): TemplateResult {
  return html`
    <div class="empty" data-testid="no-run">
      <p>
        ${
          place === 'panel'
            ? 'This run has not been read yet, or its record is gone.'
            : 'Submit a benchmark to see its shards fill in here and read the merged score.'
        }
      </p>
      <button class="button primary" type="button" data-action="submit" @click=${() => send('submit')}>
        Submit sharded benchmark
      </button>
    </div>
  `;
}
