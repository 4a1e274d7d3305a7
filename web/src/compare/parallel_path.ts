// Returns an SVG path through a run's places on parallel axes, with a gap where a place is missing.
// Pure. `across` and `up`: convert an axis and a place on it to pixels.
export function pathThrough(
  places: readonly (number | undefined)[],
  across: (axis: number) => number,
  up: (place: number) => number,
): string {
  let pen = 'M';
  return places
    .map((place, axis) => {
      if (place === undefined) {
        pen = 'M';
        return '';
      }
      const part = `${pen}${across(axis).toFixed(1)} ${up(place).toFixed(1)}`;
      pen = 'L';
      return part;
    })
    .join('');
}
