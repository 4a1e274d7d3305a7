// The number of curve colours, and the dashes that distinguish curves of the same colour. Pure
// functions.

// Number of run colours. People who cannot see red or green can distinguish them.
export const RUN_COLORS = 8;

const DASHES: readonly (readonly number[] | undefined)[] = [
  undefined,
  [7, 4],
  [2, 3],
  [9, 3, 2, 3],
  [12, 6],
  [4, 2],
];

// Returns the dashes of the curve. The first eight curves are solid.
export function dashOf(index: number): readonly number[] | undefined {
  return DASHES[Math.floor(index / RUN_COLORS) % DASHES.length];
}
