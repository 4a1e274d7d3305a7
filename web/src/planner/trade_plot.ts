// Layouts as points of a plot: memory of a GPU to the right, seconds of a step upwards. Pure.

export interface TradePoint {
  name: string;
  bytes: number;
  seconds: number;
}

export interface Axis {
  low: number;
  high: number;
  ticks: readonly number[];
}

// Round values that enclose all of them: 1, 2 or 5 times a power of ten apart, three to nine.
export function axisOf(values: readonly number[]): Axis {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const span = most - least || Math.abs(most) || 1;
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = power * ([1, 2, 5, 10].find((factor) => span / (power * factor) <= 6) ?? 10);
  const low = Math.floor(least / step) * step;
  const count = Math.max(1, Math.ceil((most - low) / step - 1e-9));
  const ticks = Array.from({ length: count + 1 }, (_, index) => low + index * step);
  return { low, high: low + count * step, ticks };
}

// Place of a value on an axis of this length.
export function placeOn({ low, high }: Axis, value: number, length: number): number {
  return ((value - low) / (high - low)) * length;
}
