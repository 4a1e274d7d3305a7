// The evaluation sets of a job side by side, each with its newest and its lowest loss.
import type { Series } from '../api/types';
import { runColorName } from '../chart/colors';
import { count, measured, notFinite } from '../format/numbers';
import { evaluationOf, setName } from './evaluation_sets';
import { pointColor } from './panel_curves';

interface EvaluationLegendProps {
  keys: readonly string[];
  series: readonly Series[];
}

export function EvaluationLegend({ keys, series }: EvaluationLegendProps) {
  return (
    <ul class="line-legend" aria-label="Evaluation sets">
      {keys.map((key, index) => {
        const { last, best } = evaluationOf(series.find((one) => one.key === key));
        const odd = notFinite(last);
        return (
          <li key={key}>
            <svg class="line-sample" viewBox="0 0 28 8" aria-hidden="true">
              <circle cx="14" cy="4" r="3" class={runColorName(pointColor(index))} />
            </svg>
            <span class="faint">{setName(key)}</span>{' '}
            <b class={odd ? 'tone-bad' : ''}>
              {odd ?? measured(typeof last === 'number' ? last : undefined)}
            </b>
            {best && (
              <span class="faint">
                {' '}
                lowest {measured(best.loss)} at step {count(best.step)}
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
