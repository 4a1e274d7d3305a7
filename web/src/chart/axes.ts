// Ranges and tick labels of chart axes. Pure functions.
import type { Axis } from '../router/url';
import { bytes, digitsOf, percent, shortTick } from '../format/numbers';
import { durationTick } from '../format/time';

export type Unit = 'plain' | 'ratio' | 'seconds' | 'bytes' | 'rate';

export function axisLabel(axis: Axis): string {
  return axis === 'step' ? 'step' : axis === 'tokens' ? 'tokens' : 'time';
}

// Returns a short label for a tick on a y axis, with enough digits to differ from the neighboring
// ticks `step` away.
export function tickText(value: number, step: number, unit: Unit): string {
  if (unit === 'bytes') return value === 0 ? '0' : bytes(value, step);
  if (unit === 'seconds') return durationTick(value, step);
  if (unit === 'ratio') return percent(value, digitsOf(step * 100));
  const size = Math.abs(value);
  if (size >= 1000) return shortTick(value, step);
  // A value this small is zero plus a rounding error.
  if (size < step * 1e-6) return '0';
  if (size < 1e-3) {
    return value.toExponential(digitsOf(step / 10 ** Math.floor(Math.log10(size) + 1e-9)));
  }
  return value.toFixed(digitsOf(step));
}

// Returns the smallest distance between neighboring ticks.
export function tickStep(ticks: readonly number[]): number {
  let least = Infinity;
  for (let at = 1; at < ticks.length; at++) {
    least = Math.min(least, Math.abs((ticks[at] as number) - (ticks[at - 1] as number)));
  }
  return Number.isFinite(least) && least > 0 ? least : Math.abs(ticks[0] ?? 0) || 1;
}

// Returns the labels of the ticks on a logarithmic axis. Powers of ten are labeled and, if there
// are few of them, also 2 and 5 times each power. All other labels are empty.
export function logTickTexts(ticks: readonly number[], decades: number, unit: Unit): string[] {
  const step = tickStep(ticks);
  return ticks.map((value) => {
    if (decades < 1) return tickText(value, step, unit);
    const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
    const mantissa = Math.round(value / power);
    const labeled = mantissa === 1 || (decades <= 2 && [2, 5].includes(mantissa));
    return labeled ? tickText(value, power, unit) : '';
  });
}

const two = (value: number) => String(value).padStart(2, '0');

// Returns a tick's label on a time axis, in local time, precise enough to distinguish ticks
// `stepMs` apart. A tick at midnight shows the date.
export function timeTickText(timeMs: number, stepMs: number): string {
  const time = new Date(timeMs);
  const day = `${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`;
  if (stepMs >= 86_400_000 || (clock === '00:00' && stepMs >= 60_000)) return day;
  if (stepMs >= 60_000) return clock;
  const seconds = `${clock}:${two(time.getSeconds())}`;
  if (stepMs >= 1_000) return seconds;
  return `${seconds}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}

// Makes positions on an axis non-decreasing by moving each point to the latest position before it,
// if that is greater. Times decrease if a new attempt runs on a node whose clock is behind.
export function nonDecreasing(xs: readonly number[]): number[] {
  let newest = -Infinity;
  return xs.map((x) => {
    newest = Math.max(newest, x);
    return newest;
  });
}

// Returns the range with a little padding above and below. For a flat curve, the padding depends on
// its value.
export function paddedRange(low: number, high: number, logY: boolean): [number, number] {
  if (logY) {
    return low === high ? [low / 2, high * 2] : [low / 1.08, high * 1.08];
  }
  const span = high - low;
  const padding = span > 0 ? span * 0.06 : Math.max(Math.abs(high) * 0.1, 1e-9);
  // If all values are non-negative and the range begins near zero, the axis begins at zero.
  return [low >= 0 && low < span * 0.15 ? 0 : low - padding, high + padding];
}

const DECADES_OF_NINE = 6;

// Returns the ticks of a logarithmic axis: 1 to 9 times each power of ten or, over many decades,
// the powers of ten alone. Replaces uPlot's own function. If the first step passes a power of ten,
// as in the range 9.6e-7 to 3e-4, uPlot's function does not terminate.
export function logTicks(low: number, high: number): number[] {
  if (!(low > 0) || !(high >= low) || !Number.isFinite(high)) return [];
  const first = Math.floor(Math.log10(low));
  const last = Math.floor(Math.log10(high));
  const digits = last - first > DECADES_OF_NINE ? [1] : [1, 2, 3, 4, 5, 6, 7, 8, 9];
  const ticks: number[] = [];
  for (let exponent = first; exponent <= last; exponent++) {
    for (const digit of digits) ticks.push(Number(`${digit}e${exponent}`));
  }
  const inside = ticks.filter((tick) => tick >= low && tick <= high);
  return inside.length < 3 ? evenTicks(low, high) : inside;
}

// Returns about five ticks for a logarithmic axis with a narrow range: multiples of 1, 2 or 5 times
// a power of ten.
function evenTicks(low: number, high: number): number[] {
  const rough = (high - low) / 5;
  if (rough <= 0) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((digit) => digit * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step);
  const last = Math.floor(high / step);
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

// Returns the number of buckets to request: one per two pixels, rounded to a multiple of 200 so
// that most resizes cause no new request.
export function bucketsFor(widthPx: number): number {
  return Math.min(2000, Math.max(200, Math.ceil(widthPx / 400) * 200));
}

// Returns the window that a drag from `a` to `b` selects. The window is never empty, and its ends
// are whole numbers.
export function zoomWindow(a: number, b: number): { from: number; to: number } {
  const from = Math.max(0, Math.floor(Math.min(a, b)));
  const to = Math.max(from + 1, Math.ceil(Math.max(a, b)));
  return { from, to };
}

// Returns the milliseconds between two requests for a growing curve: long enough for a new point to
// move the curve by a pixel, and at least ten times the duration of a request.
export function refreshInterval(
  pointsInBucket: number,
  stepSeconds: number,
  lastFetchMs: number,
): number {
  const visible = Math.max(1, pointsInBucket) * Math.max(stepSeconds, 0) * 1000;
  return Math.min(30_000, Math.max(1_000, visible / 2, lastFetchMs * 10));
}
