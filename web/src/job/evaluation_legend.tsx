// The evaluation sets of a job side by side, each with its newest and its lowest loss.
import type { Series } from '../api/types';
import { runColorName } from '../chart/colors';
import { count, measured, measuredText, notFinite } from '../format/numbers';
import { evaluationOf, setColor, setName } from './evaluation_sets';

interface EvaluationLegendProps {
  keys: readonly string[];
  series: readonly Series[];
}

export function EvaluationLegend({ keys, series }: EvaluationLegendProps) {
  return (
    <ul class="line-legend" aria-label="Evaluation sets">
      {keys.map((key, index) => {
        const { last, best } = evaluationOf(series.find((one) => one.key === key));
        return (
          <li key={key}>
            <svg
              class={`point-sample ${runColorName(setColor(index))}`}
              viewBox="0 0 10 10"
              aria-hidden="true"
            >
              <circle cx="5" cy="5" r="3.5" />
            </svg>
            <span class="faint">{setName(key)}</span>{' '}
            <b class={notFinite(last) ? 'tone-bad' : ''}>{measuredText(last)}</b>
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
