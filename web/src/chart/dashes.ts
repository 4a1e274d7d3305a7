// The number of curve colors, and the dash patterns that distinguish curves of the same color.
// Pure functions.

// Number of curve colors. The colors are distinct for people with red-green color blindness.
export const RUN_COLORS = 8;

const DASHES: readonly (readonly number[] | undefined)[] = [
  undefined,
  [7, 4],
  [2, 3],
  [9, 3, 2, 3],
  [12, 6],
  [4, 2],
];

// Returns the dash pattern of a curve; undefined, a solid line, for the first eight curves.
export function dashOf(index: number): readonly number[] | undefined {
  return DASHES[Math.floor(index / RUN_COLORS) % DASHES.length];
}
