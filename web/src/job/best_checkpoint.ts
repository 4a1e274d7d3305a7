// Checkpoints compared by their metric, of which lower values are better. Needs no document.
import type { Checkpoint } from '../api/types';

type Candidate = Pick<Checkpoint, 'metric' | 'metric_value' | 'damaged'> &
  Partial<Pick<Checkpoint, 'rolled_back'>>;

const isUsable = (checkpoint: Candidate) => !checkpoint.damaged && !checkpoint.rolled_back;

const valueOf = ({ metric_value: value }: Candidate): number =>
  typeof value === 'number' ? value : Number.NaN;

// The usable checkpoint with the lowest value of the newest one's metric, the first of equal ones.
// The list has the newest last.
export function bestOf<T extends Candidate>(checkpoints: readonly T[]): T | undefined {
  const metric = checkpoints.findLast((checkpoint) => checkpoint.metric)?.metric;
  return checkpoints
    .filter((checkpoint) => metric && checkpoint.metric === metric && isUsable(checkpoint))
    .filter((checkpoint) => Number.isFinite(valueOf(checkpoint)))
    .reduce<T | undefined>(
      (best, one) => (best === undefined || valueOf(one) < valueOf(best) ? one : best),
      undefined,
    );
}

// "val_loss 2.3104 (best)"; "" for a checkpoint of a run that was not evaluated.
export function metricText(checkpoint: Candidate, isBest: boolean): string {
  if (!checkpoint.metric) return '';
  return `${checkpoint.metric} ${valueOf(checkpoint).toFixed(4)}${isBest ? ' (best)' : ''}`;
}
