import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { RunSnapshot } from '../protocol/runSnapshot';

/** Where the run's files are. */
export function files(run: RunSnapshot): TemplateResult {
  return html`
    <section class="files" aria-labelledby="files-title">
      <h2 id="files-title">Files</h2>
      <dl>
        ${
          run.bundlePath === null
            ? nothing
            : html`<dt class="dim">Bundle</dt><dd data-testid="bundle-path">${run.bundlePath}</dd>`
        }
        <dt class="dim">Output folder</dt>
        <dd data-testid="output-folder">${run.outputFolder}</dd>
      </dl>
    </section>
  `;
}
