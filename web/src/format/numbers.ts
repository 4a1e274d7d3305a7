// Formats numbers for people. An absent or non-finite value becomes an em dash, never "NaN".
import type { JsonNumber } from '../api/types';

export const ABSENT = '—';

const SUFFIXES = ['', 'k', 'M', 'B', 'T', 'P'];

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

// 1234 -> "1,234".
export function count(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return ABSENT;
  return Math.round(value).toLocaleString('en-US');
}

// Returns the value divided by a power of 1000, and the exponent of that power.
function scaledByThousands(value: number): { scaled: number; power: number } {
  let scaled = Math.abs(value);
  let power = 0;
  // 999.5 and more would be rounded to "1000".
  while (scaled >= 999.5 && power < SUFFIXES.length - 1) {
    scaled /= 1000;
    power++;
  }
  return { scaled, power };
}

// Formats with three significant digits and a suffix for a power of 1000: 1234567 -> "1.23M".
export function short(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return ABSENT;
  const { scaled, power } = scaledByThousands(value);
  const digits = scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
  const sign = value < 0 ? '−' : '';
  return `${sign}${trimZeros(scaled.toFixed(digits))}${SUFFIXES[power]}`;
}

// A number that needs more digits than this before its suffix is easier to read in full.
const SUFFIX_DIGITS_MAX = 6;

// Formats like short(), but with enough digits to distinguish ticks `step` apart. Returns the full
// number unless it is longer: 1234560, 20 -> "1.23456M"; 3040, 1 -> "3,040".
export function shortTick(value: number, step: number): string {
  const { scaled, power } = scaledByThousands(value);
  const digits = digitsOf(step / 1000 ** power);
  const suffixed = `${value < 0 ? '−' : ''}${scaled.toFixed(digits)}${SUFFIXES[power]}`;
  const behind = digitsOf(step);
  const whole = value.toLocaleString('en-US', {
    minimumFractionDigits: behind,
    maximumFractionDigits: behind,
  });
  return digits > SUFFIX_DIGITS_MAX || whole.length <= suffixed.length ? whole : suffixed;
}

const DIGITS_MAX = 15;

// Returns how many decimals distinguish ticks `step` apart: 1 for 2.5, 2 for 0.05.
export function digitsOf(step: number): number {
  const size = Math.abs(step);
  if (!(size > 0) || !Number.isFinite(size)) return 0;
  for (let digits = 0; digits < DIGITS_MAX; digits++) {
    const scaled = size * 10 ** digits;
    // A relative tolerance, because steps may be small and tick distances have rounding errors.
    if (Math.abs(scaled - Math.round(scaled)) <= 1e-5 * scaled) return digits;
  }
  return Math.min(DIGITS_MAX, Math.max(0, 2 - Math.floor(Math.log10(size))));
}

// A power of two has many digits, but its first digits are enough to distinguish ticks.
const binaryDigits = (step: number) =>
  Math.min(digitsOf(step), Math.max(3, Math.ceil(-Math.log10(step))));

// `step`: the distance between ticks of an axis, which the text's digits must distinguish.
export function bytes(value: number | undefined, step?: number): string {
  if (value === undefined || !Number.isFinite(value)) return ABSENT;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let scaled = value;
  let unit = 0;
  while (scaled >= 1023.5 && unit < units.length - 1) {
    scaled /= 1024;
    unit++;
  }
  const apart = step === undefined ? undefined : binaryDigits(step / 1024 ** unit);
  const digits = apart ?? (unit === 0 || scaled >= 99.95 ? 0 : 1);
  return `${scaled.toFixed(digits)} ${units[unit]}`;
}

// Formats bytes in decimal units, as GPU vendors do: 8e10 -> "80.0 GB".
export function gigabytes(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return ABSENT;
  return `${(value / 1e9).toFixed(1)} GB`;
}

// Formats a ratio from 0 to 1 in per cent.
export function percent(ratio: number | undefined, digits = 1): string {
  if (ratio === undefined || !Number.isFinite(ratio)) return ABSENT;
  return `${(ratio * 100).toFixed(digits)} %`;
}

// Formats a measured value with enough digits to distinguish similar values: "4.2871", and 0.000300
// -> "3.00e-4".
export function measured(value: number | null | undefined): string {
  if (value === undefined || value === null || !Number.isFinite(value)) return ABSENT;
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size < 1e-3 || size >= 1e7) return value.toExponential(2).replace('e+', 'e');
  if (size >= 1000) return Math.round(value).toLocaleString('en-US');
  if (size >= 100) return value.toFixed(1);
  return value.toFixed(size >= 10 ? 2 : 4);
}

// Returns undefined for a finite number and for any value that is not a number.
export function notFinite(value: unknown): 'NaN' | 'Inf' | '−Inf' | undefined {
  if (value === 'NaN') return 'NaN';
  if (value === 'Infinity') return 'Inf';
  return value === '-Infinity' ? '−Inf' : undefined;
}

// Formats a measured value that may not be finite: "NaN".
export const measuredText = (value: JsonNumber | undefined): string =>
  notFinite(value) ?? measured(typeof value === 'number' ? value : undefined);

// Such as "1 node" or "2 nodes".
export function plural(amount: number, noun: string): string {
  return `${count(amount)} ${noun}${amount === 1 ? '' : 's'}`;
}
