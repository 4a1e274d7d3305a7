import type { Job } from '../api/types';
import { oldLossText } from '../job/progress';
import { Measured } from './measured';

// Shows the newest loss of a job. A loss older than the newest step is gray.
export function Loss({ job }: { job: Job }) {
  const value = <Measured value={job.progress?.loss} />;
  if (oldLossText(job) === undefined) return value;
  return <span class="faint">{value}</span>;
}
