// Texts of a job's tabs that have nothing to show. For a job that has ended they avoid "yet", since
// nothing will follow. Pure.
import type { Job } from '../api/types';
import { hasEnded } from '../api/live';
import { count } from '../format/numbers';

export interface EmptyWords {
  title: string;
  text: string;
}

interface LogQuestion {
  grep: string;
  ranks: string;
  attempt: number | undefined;
}

export function emptyLog(filter: LogQuestion, complete: boolean): EmptyWords {
  if (filter.grep !== '') {
    return { title: `No line holds “${filter.grep}”`, text: 'Upper and lower case matter.' };
  }
  const chosen = filter.ranks !== '' || filter.attempt !== undefined;
  if (!complete) {
    return { title: chosen ? 'No output of these ranks yet' : 'No output yet', text: '' };
  }
  return chosen
    ? { title: 'These ranks wrote no output', text: 'The job has ended; choose others above.' }
    : { title: 'This job wrote no output', text: '' };
}

export function noCheckpoint(job: Job): EmptyWords {
  if (hasEnded(job)) {
    return { title: 'This job has no checkpoint', text: 'It ended before one was saved.' };
  }
  const every = job.spec?.checkpoint?.every_steps;
  const text = every
    ? `One is saved every ${count(every)} steps, and when the job is stopped.`
    : 'One is saved at the end, and when the job is stopped.';
  return { title: 'No checkpoint yet', text };
}

export function noAttempt(job: Pick<Job, 'state'>): EmptyWords {
  return hasEnded(job)
    ? { title: 'This job never ran', text: 'It ended before it got its slots.' }
    : { title: 'No attempt yet', text: 'The first begins when the job gets its slots.' };
}
