import type { Job } from '../api/types';
import { oldLossText } from '../job/progress';
import { Measured } from './measured';

// Shows the newest loss of a job. It is gray if it is older than the newest step.
export function Loss({ job }: { job: Job }) {
  const value = <Measured value={job.progress?.loss} />;
  if (oldLossText(job) === undefined) return value;
  return <span class="faint">{value}</span>;
}
