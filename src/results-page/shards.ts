import { repeat } from 'lit/directives/repeat.js';
import { html, nothing, svg, type TemplateResult } from 'lit/html.js';
import { hasEnded, type RunSnapshot, type RunStatus, type ShardSnapshot } from '../protocol/runSnapshot';
import { countOf, formatCount, formatLatency, formatScore, NONE } from './format';
import { shardScore } from './headline';
import { icon } from './icon';
import { shardCountWords, shardNumber, shardWords, type Tone } from './words';

/** One row a shard: where it stands in the order, how far it is, how good, what went wrong. */
export function shards(run: RunSnapshot): TemplateResult {
  return html`
    <section class="shards" aria-labelledby="shards-title">
      <h2 id="shards-title">Shards</h2>
      ${
        run.shards.length === 0
          ? html`<p class="dim" data-testid="no-shards">${withoutShards(run)}</p>`
          : shardTable(run)
      }
    </section>
  `;
}

function withoutShards(run: RunSnapshot): string {
  const counts = shardCountWords(run);
  if (counts !== undefined) {
    return `${counts}. Which shard is which, and how far each is, the stock launcher does not tell.`;
  }
  return hasEnded(run.status)
    ? 'The run ended before its shards were known.'
    : 'The shards show here as soon as the driver has loaded the benchmark.';
}

function shardTable(run: RunSnapshot): TemplateResult {
  return html`
    <table role="table" class="shard-table" aria-labelledby="shards-title">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col" class="number">Shard</th>
          <th role="columnheader" scope="col" class="shard-range" title="From, inclusive, to, exclusive, in the order of the run. The problems are shuffled, so these are positions, not problem numbers.">Positions</th>
          <th role="columnheader" scope="col" class="bar-column">Answers</th>
          <th role="columnheader" scope="col" class="number">Done</th>
          <th role="columnheader" scope="col" class="number" title="Mean reward of the answers so far">Score</th>
          <th role="columnheader" scope="col" class="number shard-latency" title="Median latency: half of the answers took longer">Latency</th>
          <th role="columnheader" scope="col" class="number" title="Answers that failed at the endpoint; each counts as 0">Errors</th>
          <th role="columnheader" scope="col">State</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${repeat(
          run.shards,
          (shard) => shard.index,
          (shard) => shardRow(shard, run.status),
        )}
      </tbody>
    </table>
    <p class="legend dim" aria-hidden="true">
      <span><i class="mark earned"></i>reward earned</span>
      <span><i class="mark missed"></i>not earned</span>
      ${run.endpointErrors === 0 ? nothing : html`<span><i class="mark failed"></i>endpoint error</span>`}
      <span><i class="mark open"></i>not answered</span>
    </p>
  `;
}

const phaseLooks: Record<ShardSnapshot['phase'], { icon: string; tone: Tone }> = {
  waiting: { icon: 'circle-large-outline', tone: 'quiet' },
  running: { icon: 'play-circle', tone: 'active' },
  done: { icon: 'pass', tone: 'good' },
  failed: { icon: 'error', tone: 'bad' },
};

function shardRow(shard: ShardSnapshot, status: RunStatus): TemplateResult {
  const score = shardScore(shard);
  const words = shardWords(shard, status);
  const look = phaseLooks[shard.phase === 'failed' && status === 'stopped' ? 'waiting' : shard.phase];
  return html`
    <tr
      role="row"
      data-testid="shard-${shard.index}"
      data-phase=${shard.phase}
      data-done=${shard.done}
      data-total=${shard.total}
      data-attempt=${shard.attempt}
    >
      <th role="rowheader" scope="row" class="shard-number number">${shardNumber(shard)}</th>
      <td role="cell" class="shard-range dim">[${formatCount(shard.start)}, ${formatCount(shard.end)})</td>
      <td role="cell" class="shard-bar bar-column">${shardBar(shard)}</td>
      <td role="cell" class="shard-done number">${formatCount(shard.done)}<span class="dim"> of ${formatCount(shard.total)}</span></td>
      <td role="cell" class="shard-score number">${score === undefined ? html`<span class="dim">${NONE}</span>` : formatScore(score, 1)}</td>
      <td role="cell" class="shard-latency number dim">${shard.medianLatencyMs === null ? NONE : formatLatency(shard.medianLatencyMs)}</td>
      <td role="cell" class="shard-errors number ${shard.endpointErrors === 0 ? 'dim' : ''}">
        ${formatCount(shard.endpointErrors)}<span class="narrow-only"> endpoint ${shard.endpointErrors === 1 ? 'error' : 'errors'}</span>
      </td>
      <td role="cell" class="shard-state" title=${words}>
        <span class="shard-state-text">${icon(look.icon, look.tone)}<span>${words}</span></span>
      </td>
    </tr>
  `;
}

/** How the answers of a shard stand, as shares of its total. Parts differ in height besides the colour. */
function shardBar(shard: ShardSnapshot): TemplateResult {
  const total = Math.max(1, shard.total);
  const errors = shard.endpointErrors / total;
  // Rewards need not lie between 0 and 1, the bar must.
  const earned = Math.min(Math.max(0, shard.rewardSum), shard.done - shard.endpointErrors) / total;
  const missed = shard.done / total - errors - earned;
  return html`
    <div
      class="shard-progress"
      role="progressbar"
      aria-label="Shard ${shardNumber(shard)}"
      aria-valuemin="0"
      aria-valuemax=${shard.total}
      aria-valuenow=${shard.done}
      aria-valuetext="${formatCount(shard.done)} of ${countOf(shard.total, 'answer')}"
    >
      <svg aria-hidden="true">
        ${svg`
          <rect class="open" x="0" width="100%" y="0" height="100%"></rect>
          ${barPart('earned', 0, earned)} ${barPart('missed', earned, missed)} ${barPart('failed', earned + missed, errors)}
        `}
      </svg>
    </div>
  `;
}

function barPart(
  kind: 'earned' | 'missed' | 'failed',
  from: number,
  width: number,
): TemplateResult<2> | typeof nothing {
  if (width <= 0) {
    return nothing;
  }
  const [y, height] = kind === 'missed' ? ['30%', '40%'] : ['0', '100%'];
  return svg`<rect class=${kind} x="${from * 100}%" width="${width * 100}%" y=${y} height=${height}></rect>`;
}
