// The line below a chart: the number of steps that one drawn point represents, and the values that
// are off scale.
import { useMemo } from 'preact/hooks';
import type { Series } from '../api/types';
import { isThinned, pointsPerBucket, type Curve } from '../chart/curves';
import { valuesOutside } from '../chart/y_range';
import { count, short } from '../format/numbers';
import { setQuery } from '../router/router';
import { hasLines } from './panel_curves';
import { valueText, type Panel } from './panels';

export interface CurveNoteProps {
  series: readonly Series[];
  curves: readonly Curve[];
  panel: Panel;
  // True if the chart may leave out extreme values.
  typicalY: boolean;
}

// Returns a text about how many steps one drawn point represents. The text shows whether a spike
// may be hidden.
function densityText(main: Series, panel: Panel): string {
  if (!isThinned(main)) return `${count(main.x.length)} points`;
  const band = hasLines(panel) ? '' : ' (band: min–max)';
  return `Each point averages ${short(pointsPerBucket(main))} steps${band}.`;
}

function offScaleText({ curves, panel, typicalY }: CurveNoteProps): string | undefined {
  if (!typicalY) return undefined;
  const { low, high } = valuesOutside(curves);
  const parts = [
    ...(high === undefined ? [] : [`up to ${valueText(high, panel.unit)}`]),
    ...(low === undefined ? [] : [`down to ${valueText(low, panel.unit)}`]),
  ];
  return parts.length > 0 ? `Off scale: ${parts.join(', ')}` : undefined;
}

export function CurveNote(props: CurveNoteProps) {
  const { series, panel } = props;
  const offScale = useMemo(() => offScaleText(props), [props.curves, props.typicalY]);
  const main = series.find(({ redone, x }) => !redone && x.length > 0);
  if (!main) return <p class="density" />;
  return (
    <p class="density">
      {densityText(main, panel)}
      {!offScale && isThinned(main) && ' Zoom in to see every step.'}
      {offScale && (
        <>
          {' '}
          {offScale}{' '}
          <button type="button" class="text-button" onClick={() => setQuery({ y: 'full' })}>
            Full range
          </button>
        </>
      )}
    </p>
  );
}
