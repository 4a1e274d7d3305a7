// Texts about the time limit of a job. Pure functions.
import { hasEnded } from '../api/live';
import type { Job } from '../api/types';
import { duration, durationMs } from '../format/time';

// Returns "3h 10m left until the time limit, then the job ends"; undefined if the job has no time
// limit or has ended.
export function timeLimitText(job: Job): string | undefined {
  const { time_limit_use: use, spec } = job;
  if (!spec?.time_limit || !use || hasEnded(job)) return undefined;
  const then = spec.at_time_limit === 'requeue' ? 'the job is queued again' : 'the job ends';
  const left = use.remaining_ms;
  if (left === 0) return `The time limit is reached: ${then}.`;
  return `${duration(left / 1000)} left until the time limit, then ${then}.`;
}

// True if an operator can extend the limit now.
export const isExtensible = (job: Job): boolean =>
  timeLimitText(job) !== undefined && job.state !== 'stopping';

// Returns the duration as the controller accepts it, such as "2h"; undefined if the text is not a
// duration above 0.
export function addedTime(text: string): string | undefined {
  const added = text.trim().replace(/^\+/, '');
  return durationMs(added) ? added : undefined;
}
