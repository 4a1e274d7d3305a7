// Plots goodput by checkpoint interval, to show the cost of a shorter or longer interval.
import type { PlanLayoutResponse } from '../api/types';
import { percent } from '../format/numbers';
import { duration } from '../format/time';
import { PlotFrame } from '../chart/plot_frame';
import { durationScale, evenScale } from '../chart/plot_scale';

type Failures = NonNullable<PlanLayoutResponse['failures']>;

// Smallest difference visible in the labels of the scale.
const GOODPUT_APART = 0.001;

export function GoodputPlot({ failures }: { failures: Failures }) {
  const points = failures.by_interval.map((point) => ({
    seconds: point.checkpoint_interval_seconds as number,
    goodput: point.goodput as number,
  }));
  if (points.length < 2) return null;
  const best = {
    seconds: failures.checkpoint_interval_seconds as number,
    goodput: failures.goodput as number,
  };
  const words = ({ seconds, goodput }: typeof best) =>
    `${percent(goodput)} with a checkpoint every ${duration(seconds)}`;
  const ends = [points[0], best, points[points.length - 1]].map((at) => words(at ?? best));
  return (
    <>
      <p class="label">Goodput by checkpoint interval</p>
      <PlotFrame
        label={`Goodput: ${ends.join('; ')}`}
        width={440}
        x={durationScale(
          points.map(({ seconds }) => seconds),
          duration,
        )}
        y={evenScale(
          points.map(({ goodput }) => goodput),
          (value) => percent(value),
          GOODPUT_APART,
        )}
      >
        {(x, y) => (
          <>
            <polyline points={points.map((at) => `${x(at.seconds)},${y(at.goodput)}`).join(' ')} />
            <circle class="best" cx={x(best.seconds)} cy={y(best.goodput)} r={6}>
              <title>best: {words(best)}</title>
            </circle>
          </>
        )}
      </PlotFrame>
    </>
  );
}
