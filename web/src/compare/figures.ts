// The results of a run as single numbers, such as its lowest loss. Pure functions.
import type { JsonNumber, Series } from '../api/types';
import type { Unit } from '../chart/axes';
import { unitOf } from '../job/panels';

export type FigureKind = 'best' | 'last' | 'mean';

export interface Figure {
  // Such as "best:val_loss".
  id: string;
  name: string;
  key: string;
  kind: FigureKind;
  unit: Unit;
}

const isLoss = (key: string) => key === 'loss' || key.endsWith('_loss');

const WORD: Record<FigureKind, string> = { best: 'Lowest', last: 'Last', mean: 'Mean' };

// Returns the figures of the series: the lowest and the last value of a loss, the mean and the last
// value of any other series.
export function figuresFor(keys: readonly string[]): Figure[] {
  return keys.flatMap((key) => {
    const kinds: FigureKind[] = isLoss(key) ? ['best', 'last'] : ['mean', 'last'];
    return kinds.map((kind) => ({
      id: `${kind}:${key}`,
      name: `${WORD[kind]} ${key}`,
      key,
      kind,
      unit: unitOf(key),
    }));
  });
}

export type FigureColumns = Pick<Series, 'last' | 'min' | 'mean' | 'counts'>;

const finite = (value: JsonNumber | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

// Returns the mean of all points. Buckets have different numbers of points, so their means are
// weighted.
function meanOf({ mean, counts }: FigureColumns): number | undefined {
  let [sum, points] = [0, 0];
  mean.forEach((value, index) => {
    const known = finite(value);
    if (known === undefined) return;
    const weight = counts[index] ?? 1;
    sum += known * weight;
    points += weight;
  });
  return points > 0 ? sum / points : undefined;
}

function lowestOf({ min }: FigureColumns): number | undefined {
  const known = min.map(finite).filter((value) => value !== undefined);
  return known.length > 0 ? known.reduce((a, b) => Math.min(a, b)) : undefined;
}

// Returns undefined if the run has no finite value. The last value of a run that ended with NaN is
// unknown.
export function figureOf(series: FigureColumns | undefined, kind: FigureKind): number | undefined {
  if (!series) return undefined;
  if (kind === 'best') return lowestOf(series);
  return kind === 'mean' ? meanOf(series) : finite(series.last.at(-1));
}
