import { html, type TemplateResult } from 'lit/html.js';
import type { RunSnapshot } from '../protocol/runSnapshot';
import { formatCount, formatExact } from './format';

/** The mean reward of each category of the benchmark. */
export function categories(all: NonNullable<RunSnapshot['categories']>): TemplateResult {
  return html`
    <section aria-labelledby="categories-title">
      <h2 id="categories-title">Categories</h2>
      <table role="table" class="categories-table" aria-labelledby="categories-title">
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col">Category</th>
            <th role="columnheader" scope="col" class="number count">Answers</th>
            <th role="columnheader" scope="col" class="number">Mean reward</th>
            <th role="columnheader" scope="col" class="bar-column"><span class="hidden">Mean reward, drawn</span></th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          ${Object.entries(all).map(
            ([name, category]) => html`
              <tr role="row" data-testid="category-${name}" data-value=${category.mean_reward}>
                <th role="rowheader" scope="row" class="clip" title=${name}>${name}</th>
                <td role="cell" class="number count dim">${formatCount(category.n)}</td>
                <td role="cell" class="number">${formatExact(category.mean_reward)}</td>
                <td role="cell" class="bar-column"><progress class="bar" max="1" .value=${category.mean_reward} aria-hidden="true"></progress></td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </section>
  `;
}
