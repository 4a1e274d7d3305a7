// The plot of layouts that trade time for memory. The table beside it has the same numbers.
import { gigabytes } from '../format/numbers';
import { preciseSeconds } from '../format/time';
import { PlotFrame } from './plot_frame';
import { evenScale } from './plot_scale';

export interface TradePoint {
  name: string;
  bytes: number;
  seconds: number;
}

interface TradePlotProps {
  // The best layout first.
  points: readonly TradePoint[];
}

export function TradePlot({ points }: TradePlotProps) {
  return (
    <PlotFrame
      label="Seconds of a step by memory of a GPU, a point for each layout of the table"
      x={evenScale(
        points.map(({ bytes }) => bytes),
        gigabytes,
      )}
      y={evenScale(
        points.map(({ seconds }) => seconds),
        preciseSeconds,
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
