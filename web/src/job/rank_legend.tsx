// Explains every color and mark of the rank map.
import type { RankStatus } from '../api/types';
import { bytes, plural } from '../format/numbers';
import { duration } from '../format/time';
import { HEAT_STEPS, heatOf, type HeatScale } from './rank_heat';
import { HIGH_MARK, conditionEntries, type CellLook, type RankView } from './rank_look';
import type { Condition, RankConditions } from './rank_condition';
import { conditionWords, rankList } from './rank_words';

interface LegendProps {
  ranks: readonly RankStatus[];
  view: RankView;
}

function medianWords({ measure, median, medianComputes }: HeatScale): string | undefined {
  const medians = measure === 'compute' ? [...medianComputes.values()] : [median];
  const [only = 0] = medians;
  if (medians.length > 1) return 'median per pipeline stage';
  return only > 0 ? `median ${duration(only)}` : undefined;
}

// Returns the texts at the two ends of the color scale; undefined if no rank has reported a value.
function scaleWords(scale: HeatScale): [string, string] | undefined {
  const { measure, low, high } = scale;
  if (measure === 'step time' || measure === 'compute') {
    const median = medianWords(scale);
    return median
      ? ['faster', `slower (${median}); ${HIGH_MARK} = at least 10 % above the median`]
      : undefined;
  }
  if (high <= 0) return undefined;
  if (measure === 'waits') return ['0 s', `longest wait in a step: ${duration(high)}`];
  if (measure === 'memory') return [bytes(low), `${bytes(high)} (maximum)`];
  return ['0 s', `longest data wait: ${duration(high)}`];
}

function ScaleLegend({ scale }: { scale: HeatScale }) {
  const words = scaleWords(scale);
  if (!words) return null;
  return (
    <p class="heat-legend">
      <span>{words[0]}</span>
      {Array.from({ length: HEAT_STEPS }, (_, step) => (
        <i key={step} class={`heat-${step}`} />
      ))}
      <span>{words[1]}</span>
    </p>
  );
}

export const cellClass = ({ fill, bad }: CellLook): string =>
  `rank ${fill ?? 'heat-none'}${bad ? ' bad' : ''}`;

interface Sample {
  look: CellLook;
  words: string;
}

// Returns "at fault: rank 5" or "waiting for rank 5: 15 ranks".
function legendWords(condition: Condition, count: number, conditions: RankConditions): string {
  const ranks = condition === 'culprit' ? rankList(conditions.culprits) : plural(count, 'rank');
  return `${conditionWords(condition, conditions)}: ${ranks}`;
}

// If a measure is shown, a sample has only the mark, because the scale explains the color.
function samplesOf({ ranks, view }: LegendProps): Sample[] {
  const { scale, conditions } = view;
  const samples = conditionEntries(ranks, view).map(({ look, condition, count }) => ({
    look: scale ? { ...look, fill: 'heat-3' } : look,
    words: legendWords(condition, count, conditions),
  }));
  const missing = scale ? ranks.filter((rank) => heatOf(rank, scale) === undefined).length : 0;
  if (missing === 0) return samples;
  const look = { fill: undefined, mark: '', bad: false };
  return [...samples, { look, words: `no value reported: ${plural(missing, 'rank')}` }];
}

export function RankLegend({ ranks, view }: LegendProps) {
  return (
    <div class="rank-legend">
      {view.scale && <ScaleLegend scale={view.scale} />}
      <ul aria-label="Legend">
        {samplesOf({ ranks, view }).map(({ look, words }) => (
          <li key={words}>
            <span class={cellClass(look)} aria-hidden="true">
              {look.mark}
            </span>
            {words}
          </li>
        ))}
      </ul>
    </div>
  );
}
