// From values to places on the side of a plot, with named marks. Pure.

export interface Mark {
  place: number; // From 0 to 1 along the side.
  name: string;
}

export interface Scale {
  marks: readonly Mark[];
  placeOf: (value: number) => number;
}

// Even steps with round marks, three to nine, that enclose all values: 1, 2 or 5 times a power of
// ten apart.
export function evenScale(values: readonly number[], words: (value: number) => string): Scale {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const span = most - least || Math.abs(most) || 1;
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = power * ([1, 2, 5, 10].find((factor) => span / (power * factor) <= 6) ?? 10);
  const low = Math.floor(least / step) * step;
  const count = Math.max(1, Math.ceil((most - low) / step - 1e-9));
  const placeOf = (value: number) => (value - low) / (count * step);
  const marks = Array.from({ length: count + 1 }, (_, index) => {
    const value = low + index * step;
    return { place: placeOf(value), name: words(value) };
  });
  return { marks, placeOf };
}

const SECONDS = [1, 10, 60, 600, 3600, 36_000, 86_400, 864_000, 8_640_000];

// Equal factors take equal lengths, from the first to the last of these durations; marked at round
// ones.
export function durationScale(
  seconds: readonly number[],
  words: (seconds: number) => string,
): Scale {
  const low = Math.log(Math.min(...seconds));
  const span = Math.log(Math.max(...seconds)) - low || 1;
  const placeOf = (value: number) => (Math.log(value) - low) / span;
  const marks = SECONDS.map((value) => ({ place: placeOf(value), name: words(value) }));
  return { marks: marks.filter(({ place }) => place >= 0 && place <= 1), placeOf };
}
