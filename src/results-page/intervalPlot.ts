import { html, svg, type TemplateResult } from 'lit/html.js';
import type { Score } from '../protocol/driverEvents';

/** A stretch of the axis that intervals are drawn on. */
export interface Scale {
  readonly from: number;
  readonly to: number;
}

/** Space left and right of the outermost interval, as a share of the whole. */
const MARGIN = 0.1;

/**
 * One scale for all values and intervals of these scores, so that a longer line always means a wider interval.
 * Not from 0 to 1: an interval of a few points could not be seen there.
 */
export function scaleOf(scores: readonly Score[]): Scale {
  const all = scores
    .flatMap((score) => [
      score.value,
      score.ci_lower,
      score.ci_upper,
      score.bootstrap_ci_lower,
      score.bootstrap_ci_upper,
    ])
    .filter((bound) => bound !== undefined);
  const [lowest, highest] = [Math.min(...all), Math.max(...all)];
  // All intervals may be points, as when everything was right.
  const margin = highest === lowest ? 0.5 : (highest - lowest) * MARGIN;
  return { from: lowest - margin, to: highest + margin };
}

/** A value with its interval, as a picture beside the numbers. */
export function intervalPlot(scale: Scale, value: number, lower: number, upper: number): TemplateResult {
  // Lengths in per cent of the picture: attributes of SVG are no inline styles, which the security policy forbids.
  const at = (position: number): string => `${(100 * (position - scale.from)) / (scale.to - scale.from)}%`;
  return html`
    <svg class="interval" aria-hidden="true">
      ${svg`
        <line class="interval-axis" x1="0" x2="100%" y1="50%" y2="50%"></line>
        <line class="interval-range" x1=${at(lower)} x2=${at(upper)} y1="50%" y2="50%"></line>
        <circle class="interval-value" cx=${at(value)} cy="50%" r="3.5"></circle>
      `}
    </svg>
  `;
}
