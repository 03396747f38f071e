import { html, type TemplateResult } from 'lit/html.js';
import type { Score } from '../protocol/driverEvents';
import { formatExact, NONE } from './format';
import { metricLabel } from './headline';
import { intervalPlot, type Scale, scaleOf } from './intervalPlot';

const RERUN = 'Re-run noise on these problems';
const RERUN_WHY = 'How far the value would move if the same problems were asked again. It takes at least two repeats.';
const SAMPLING = 'Sampling of problems';
const SAMPLING_WHY = 'How far the value would move with other problems of the same kind (bootstrap over the problems).';

/** The evaluator's own numbers, exactly as the bundle has them. */
export function finalScores(scores: Record<string, Score>): TemplateResult {
  const scale = scaleOf(Object.values(scores));
  return html`
    <section class="final" aria-labelledby="final-title">
      <h2 id="final-title">Final scores <span class="dim">with 95 % intervals</span></h2>
      <table role="table" class="final-table" aria-labelledby="final-title">
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col">Metric</th>
            <th role="columnheader" scope="col" class="number">Value</th>
            <th role="columnheader" scope="col" title=${RERUN_WHY}>${RERUN}</th>
            <th role="columnheader" scope="col" title=${SAMPLING_WHY}>${SAMPLING}</th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          ${Object.entries(scores).map(([metric, score]) => scoreRow(scale, metric, score))}
        </tbody>
      </table>
    </section>
  `;
}

function scoreRow(scale: Scale, metric: string, score: Score): TemplateResult {
  return html`
    <tr role="row" data-testid="final-score-${metric}" data-value=${score.value}>
      <th role="rowheader" scope="row">${metricLabel(metric)}</th>
      <td role="cell" class="number strong">${formatExact(score.value)}</td>
      ${intervalCell(scale, RERUN, 'ci', score.value, score.ci_lower, score.ci_upper)}
      ${intervalCell(scale, SAMPLING, 'bootstrap', score.value, score.bootstrap_ci_lower, score.bootstrap_ci_upper)}
    </tr>
  `;
}

function intervalCell(
  scale: Scale,
  name: string,
  kind: string,
  value: number,
  lower: number | undefined,
  upper: number | undefined,
): TemplateResult {
  if (lower === undefined || upper === undefined) {
    return html`
      <td role="cell" class="interval-cell dim" data-name=${name} data-interval=${kind} title="The bundle has no such interval for this metric">
        ${NONE}
      </td>
    `;
  }
  return html`
    <td
      role="cell"
      class="interval-cell"
      data-name=${name}
      data-interval=${kind}
      data-lower=${lower}
      data-upper=${upper}
      title="${name}. All intervals of the table are drawn on one scale."
    >
      <span>${formatExact(lower)} – ${formatExact(upper)}</span>${intervalPlot(scale, value, lower, upper)}
    </td>
  `;
}
