// Plots layouts that trade time for memory. The table next to the plot has the same numbers.
import { gigabytes } from '../format/numbers';
import { preciseSeconds } from '../format/time';
import { PlotFrame } from '../chart/plot_frame';
import { evenScale } from '../chart/plot_scale';

export interface TradeoffPoint {
  name: string;
  bytes: number;
  seconds: number;
}

interface TradeoffPlotProps {
  // The best layout comes first.
  points: readonly TradeoffPoint[];
}

// The smallest differences visible in the labels of the scales: 0.1 GB, and the third digit of the
// seconds.
const BYTES_APART = 1e8;
const secondsApart = (seconds: number) => 10 ** (Math.floor(Math.log10(seconds)) - 2);

export function TradeoffPlot({ points }: TradeoffPlotProps) {
  return (
    <PlotFrame
      label="Step time by GPU memory, one point per layout"
      width={640}
      x={evenScale(
        points.map(({ bytes }) => bytes),
        gigabytes,
        BYTES_APART,
      )}
      y={evenScale(
        points.map(({ seconds }) => seconds),
        preciseSeconds,
        secondsApart(Math.max(...points.map(({ seconds }) => seconds))),
      )}
    >
      {(x, y) =>
        points.map((point, index) => (
          <circle
            key={point.name}
            class={index === 0 ? 'best' : ''}
            cx={x(point.bytes)}
            cy={y(point.seconds)}
            r={index === 0 ? 6 : 4}
          >
            <title>
              {point.name}: {preciseSeconds(point.seconds)}, {gigabytes(point.bytes)}
            </title>
          </circle>
        ))
      }
    </PlotFrame>
  );
}
