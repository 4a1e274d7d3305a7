// Number of colours of curves, and dashes for curves whose colours repeat. Pure.

// Eight run colours, distinguishable by people who cannot see red or green.
export const RUN_COLORS = 8;

const DASHES: readonly (readonly number[] | undefined)[] = [
  undefined,
  [7, 4],
  [2, 3],
  [9, 3, 2, 3],
  [12, 6],
  [4, 2],
];

// The first eight curves are solid.
export function dashOf(index: number): readonly number[] | undefined {
  return DASHES[Math.floor(index / RUN_COLORS) % DASHES.length];
}
