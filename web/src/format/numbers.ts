// Formats numbers for people. A value that is absent or not finite becomes an em dash, never "NaN".

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
  // 999.5 would be rounded to "1000".
  while (scaled >= 999.5 && power < SUFFIXES.length - 1) {
    scaled /= 1000;
    power++;
  }
  return { scaled, power };
}

// Returns three significant digits with a suffix for a power of 1000: 1234567 -> "1.23M".
export function short(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return ABSENT;
  const { scaled, power } = scaledByThousands(value);
  const digits = scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
  const sign = value < 0 ? '−' : '';
  return `${sign}${trimZeros(scaled.toFixed(digits))}${SUFFIXES[power]}`;
}

// With more digits than this, a number with a suffix is harder to read than the whole number.
const SUFFIX_DIGITS_MAX = 6;

// Returns the same form as short(), but with enough digits to distinguish ticks `step` apart. If
// the whole number is not longer, returns that: 1234560, 20 -> "1.23456M"; 3040, 1 -> "3,040".
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

// Returns the number of decimals needed to distinguish ticks `step` apart: 1 for 2.5, 2 for 0.05.
export function digitsOf(step: number): number {
  const size = Math.abs(step);
  if (!(size > 0) || !Number.isFinite(size)) return 0;
  for (let digits = 0; digits < DIGITS_MAX; digits++) {
    const scaled = size * 10 ** digits;
    // The tolerance is relative, because the step may be small and the distances between ticks have
    // rounding errors.
    if (Math.abs(scaled - Math.round(scaled)) <= 1e-5 * scaled) return digits;
  }
  return Math.min(DIGITS_MAX, Math.max(0, 2 - Math.floor(Math.log10(size))));
}

// A power of two has many digits, but the first ones are enough to distinguish ticks.
const binaryDigits = (step: number) =>
  Math.min(digitsOf(step), Math.max(3, Math.ceil(-Math.log10(step))));

// `step`: the distance between the ticks of an axis. If given, the text has enough digits to
// distinguish them.
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

// Formats a measured value with enough digits to distinguish neighbouring values: 4.2871, 0.000300
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

// Returns the text for a non-finite number of the API; undefined for any other value.
export function notFinite(value: unknown): 'NaN' | 'Inf' | '−Inf' | undefined {
  if (value === 'NaN') return 'NaN';
  if (value === 'Infinity') return 'Inf';
  return value === '-Infinity' ? '−Inf' : undefined;
}

// Returns a text such as "1 node" or "2 nodes".
export function plural(amount: number, noun: string): string {
  return `${count(amount)} ${noun}${amount === 1 ? '' : 's'}`;
}
