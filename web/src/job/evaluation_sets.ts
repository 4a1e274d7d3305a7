// The evaluation sets of a job. Pure functions.
import type { JsonNumber, Series } from '../api/types';

const LOSS = '_loss';
// Sets whose losses are recognized without a perplexity, because log parsers report only losses.
const USUAL_SETS: readonly string[] = ['val', 'eval', 'valid', 'validation', 'test'];
// Programs may also report a perplexity of the training data.
const TRAINING = 'train';

// Returns the series with the losses of the evaluation sets. The validation set comes first. The
// controller stores a loss and a perplexity for each set, so other losses, such as the losses of
// routers, are not evaluations.
export function evaluationKeys(known: readonly string[]): string[] {
  const names = new Set(known);
  const isSet = (set: string) => USUAL_SETS.includes(set) || names.has(`${set}_perplexity`);
  const sets = known
    .filter((key) => key.endsWith(LOSS))
    .map(setName)
    .filter((set) => set !== '' && set !== TRAINING && isSet(set));
  const first = sets.filter((set) => set === 'val');
  return [...first, ...sets.filter((set) => set !== 'val').sort()].map((set) => set + LOSS);
}

export const setName = (key: string) => key.slice(0, -LOSS.length);

// Returns the color of the set at `index`. The job's own curve has color 0.
export const setColor = (index: number) => index + 1;

export interface Evaluation {
  // The newest loss; may be NaN.
  last: JsonNumber | undefined;
  // The lowest loss and its step; undefined if no loss is finite.
  best: { loss: number; step: number } | undefined;
}

type Losses = Pick<Series, 'last' | 'mean' | 'steps'>;

// Evaluations are rare, so a bucket contains one evaluation unless a run is very long.
export function evaluationOf(series: Losses | undefined): Evaluation {
  let best: Evaluation['best'];
  series?.mean.forEach((loss, index) => {
    if (typeof loss !== 'number' || !(loss < (best?.loss ?? Infinity))) return;
    best = { loss, step: series.steps[index] as number };
  });
  return { last: series?.last.at(-1), best };
}
