// The parts of a step's time, as ranks report them and as a job's series contain them. Pure
// functions.
import type { RankStatus, StepTime } from '../api/types';

export interface StepPart {
  field: keyof StepTime;
  // The series with the seconds that this part takes on rank 0.
  key: string;
  name: string;
}

// In list and color order. The first colors are the easiest to distinguish, so waits for input
// and checkpoints, which are rare, come last.
export const STEP_PARTS: readonly StepPart[] = [
  { field: 'compute', key: 'compute_seconds', name: 'Compute' },
  { field: 'optimizer', key: 'optimizer_seconds', name: 'Optimizer' },
  { field: 'tp_wait', key: 'tp_wait_seconds', name: 'Wait for tp' },
  { field: 'cp_wait', key: 'cp_wait_seconds', name: 'Wait for cp' },
  { field: 'ep_wait', key: 'ep_wait_seconds', name: 'Wait for ep' },
  { field: 'pp_wait', key: 'pp_wait_seconds', name: 'Pipeline bubble' },
  { field: 'dp_wait', key: 'dp_wait_seconds', name: 'Wait for dp' },
  { field: 'world_wait', key: 'world_wait_seconds', name: 'Wait for all ranks' },
  { field: 'input_wait', key: 'input_wait_seconds', name: 'Wait for input' },
  { field: 'checkpoint_wait', key: 'checkpoint_wait_seconds', name: 'Wait for checkpoint' },
];

const WAITS = STEP_PARTS.filter(({ field }) => field.endsWith('_wait'));

type Timed = Pick<RankStatus, 'step_time'>;

// Returns undefined if the rank has reported no parts, or a non-finite part.
export function computeSeconds({ step_time: time }: Timed): number | undefined {
  const seconds = time?.compute;
  return typeof seconds === 'number' && seconds > 0 ? seconds : undefined;
}

export function waitSeconds({ step_time: time }: Timed): number | undefined {
  if (!time) return undefined;
  let sum = 0;
  for (const { field } of WAITS) {
    const seconds = time[field];
    if (typeof seconds !== 'number') return undefined;
    sum += seconds;
  }
  return sum;
}

// Returns the parts of the newest step that took more than 0 s.
export function partsOf({ step_time: time }: Timed): { name: string; seconds: number }[] {
  if (!time) return [];
  return STEP_PARTS.flatMap(({ field, name }) => {
    const seconds = time[field];
    return typeof seconds === 'number' && seconds > 0 ? [{ name, seconds }] : [];
  });
}
