// The plot of layouts that trade time for memory. The table beside it has the same numbers.
import { gigabytes } from '../format/numbers';
import { preciseSeconds } from '../format/time';
import { axisOf, placeOn, type TradePoint } from './trade_plot';

const WIDTH = 640;
const HEIGHT = 240;
const LEFT = 70;
const BOTTOM = 36;
const TOP = 12;
const RIGHT = 44;

interface TradePlotProps {
  // The best layout first.
  points: readonly TradePoint[];
}

export function TradePlot({ points }: TradePlotProps) {
  const memory = axisOf(points.map(({ bytes }) => bytes));
  const time = axisOf(points.map(({ seconds }) => seconds));
  const across = WIDTH - LEFT - RIGHT;
  const down = HEIGHT - TOP - BOTTOM;
  const x = (bytes: number) => LEFT + placeOn(memory, bytes, across);
  const y = (seconds: number) => HEIGHT - BOTTOM - placeOn(time, seconds, down);
  return (
    <svg
      class="trade-plot"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label="Seconds of a step by memory of a GPU, a point for each layout of the table"
    >
      {time.ticks.map((tick) => (
        <g key={tick}>
          <line x1={LEFT} x2={WIDTH - RIGHT} y1={y(tick)} y2={y(tick)} />
          <text x={LEFT - 8} y={y(tick) + 4} text-anchor="end">
            {preciseSeconds(tick)}
          </text>
        </g>
      ))}
      {memory.ticks.map((tick) => (
        <g key={tick}>
          <line x1={x(tick)} x2={x(tick)} y1={TOP} y2={HEIGHT - BOTTOM} />
          <text x={x(tick)} y={HEIGHT - BOTTOM + 18} text-anchor="middle">
            {gigabytes(tick)}
          </text>
        </g>
      ))}
      {points.map((point, index) => (
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
      ))}
    </svg>
  );
}
