// Maps values to positions on a plot's axis, and computes the labeled marks. Pure functions.

export interface Mark {
  place: number; // Position along the axis, from 0 to 1.
  name: string;
}

export interface Scale {
  marks: readonly Mark[];
  placeOf: (value: number) => number;
}

// Returns the label of a mark. `step`: the distance to the neighboring marks.
type Words = (value: number, step: number) => string;

// Returns a linear scale that includes all values and has at most nine marks. Marks are 1, 2 or 5
// times a power of ten apart, and at least `apart`, so that their labels differ.
export function evenScale(values: readonly number[], words: Words, apart: number): Scale {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const span = Math.max(most - least, apart);
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const isWide = (step: number) => span / step <= 6 && step >= apart * (1 - 1e-9);
  const step = power * ([1, 2, 5, 10].find((factor) => isWide(power * factor)) ?? 10);
  const low = Math.floor(least / step) * step;
  const count = Math.max(1, Math.ceil((most - low) / step - 1e-9));
  const placeOf = (value: number) => (value - low) / (count * step);
  const marks = Array.from({ length: count + 1 }, (_, index) => {
    const value = low + index * step;
    return { place: placeOf(value), name: words(value, step) };
  });
  return { marks, placeOf };
}

// Returns a logarithmic scale from the lowest to the highest value, with marks at the values of
// `round` inside this range.
function factorScale(
  values: readonly number[],
  round: readonly number[],
  words: (value: number) => string,
): Scale {
  const low = Math.log(Math.min(...values));
  const span = Math.log(Math.max(...values)) - low || 1;
  const placeOf = (value: number) => (Math.log(value) - low) / span;
  const marks = round.map((value) => ({ place: placeOf(value), name: words(value) }));
  return { marks: marks.filter(({ place }) => place >= 0 && place <= 1), placeOf };
}

// Positions of marks. They are far enough apart to keep the labels from overlapping.
const SECONDS = [1, 10, 60, 600, 3600, 28_800, 259_200, 2_592_000];

export const durationScale = (seconds: readonly number[], words: (seconds: number) => string) =>
  factorScale(seconds, SECONDS, words);

// Returns a logarithmic scale with marks at powers of ten, labeled like "1e24".
export function powerScale(values: readonly number[]): Scale {
  const first = Math.floor(Math.log10(Math.min(...values)));
  const count = Math.ceil(Math.log10(Math.max(...values))) - first + 1;
  const powers = Array.from({ length: count }, (_, index) => first + index);
  return factorScale(
    values,
    powers.map((power) => 10 ** power),
    (value) => `1e${Math.round(Math.log10(value))}`,
  );
}

// With at most this many different values, each value has a mark.
const MARKED_VALUES = 8;
// Minimum distance between marks whose labels do not overlap.
const MARK_DISTANCE = 0.08;
// Values that span at least this factor have a logarithmic scale.
const LOG_SPAN = 10;

// Returns the scale without marks that are too close to the previous mark.
function withSpacedMarks({ marks, placeOf }: Scale): Scale {
  let before = -Infinity;
  const spaced = marks.filter(({ place }) => {
    if (place - before < MARK_DISTANCE) return false;
    before = place;
    return true;
  });
  return { marks: spaced, placeOf };
}

// Returns a scale for the values of a setting: logarithmic for positive values that span at least a
// power of ten, linear otherwise. A few different values, such as those of a sweep, are the marks.
export function sweepScale(values: readonly number[], words: (value: number) => string): Scale {
  const distinct = [...new Set(values)].sort((a, b) => a - b);
  const [low = 0, high = 0] = [distinct[0], distinct.at(-1)];
  const isLog = low > 0 && high / low >= LOG_SPAN;
  const few = distinct.length <= MARKED_VALUES;
  if (isLog && !few) return powerScale(values);
  if (isLog) return withSpacedMarks(factorScale(values, distinct, words));
  if (!few) return evenScale(values, words, Math.max(Math.abs(low), Math.abs(high)) * 1e-6);
  const span = high - low;
  const placeOf = (value: number) => (span > 0 ? (value - low) / span : 0.5);
  const marks = distinct.map((value) => ({ place: placeOf(value), name: words(value) }));
  return withSpacedMarks({ marks, placeOf });
}

// Returns the scale with a margin at both ends, so that points at the ends are not on the frame.
export function withMargin({ marks, placeOf }: Scale, margin: number): Scale {
  const inner = (place: number) => margin + (1 - 2 * margin) * place;
  return {
    marks: marks.map(({ place, name }) => ({ place: inner(place), name })),
    placeOf: (value) => inner(placeOf(value)),
  };
}

// Returns a scale for texts, which are placed in the given order at equal distances. A value is an
// index into `names`.
export function nameScale(names: readonly string[]): Scale {
  const placeOf = (index: number) => (index + 0.5) / Math.max(1, names.length);
  const marks = names.map((name, index) => ({ place: placeOf(index), name }));
  return withSpacedMarks({ marks, placeOf });
}
