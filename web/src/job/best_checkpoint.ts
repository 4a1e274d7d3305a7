// Compares checkpoints by their metric, where lower is better. Does not use the DOM.
import type { Checkpoint } from '../api/types';

type Candidate = Pick<Checkpoint, 'metric' | 'metric_value' | 'damaged'> &
  Partial<Pick<Checkpoint, 'rolled_back'>>;

const isUsable = (checkpoint: Candidate) => !checkpoint.damaged && !checkpoint.rolled_back;

const valueOf = ({ metric_value: value }: Candidate): number =>
  typeof value === 'number' ? value : Number.NaN;

// Returns the usable checkpoint with the lowest value of the newest checkpoint's metric; of equal
// values, the first. The newest checkpoint must be last in the list.
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

// Returns a text such as "val_loss 2.3104 (best)"; "" if the checkpoint was not evaluated.
export function metricText(checkpoint: Candidate, isBest: boolean): string {
  if (!checkpoint.metric) return '';
  return `${checkpoint.metric} ${valueOf(checkpoint).toFixed(4)}${isBest ? ' (best)' : ''}`;
}
