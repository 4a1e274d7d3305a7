// Texts for a job's empty tabs. Texts for an ended job avoid the word "yet", because nothing will
// follow. Pure functions.
import type { Job } from '../api/types';
import { hasEnded } from '../api/live';
import { count } from '../format/numbers';
import type { LogSearch } from './log_search';

export interface EmptyText {
  title: string;
  text: string;
}

interface LogQuestion extends LogSearch {
  ranks: string;
  attempt: number | undefined;
}

export function emptyLog(filter: LogQuestion, complete: boolean): EmptyText {
  if (filter.grep !== '') {
    const text = filter.matchCase ? 'The search is case-sensitive.' : '';
    return { title: `No lines match “${filter.grep}”`, text };
  }
  if (filter.level) {
    const levels = filter.level === 'error' ? 'an error' : 'a warning or an error';
    return { title: `No lines state ${levels}`, text: '' };
  }
  const chosen = filter.ranks !== '' || filter.attempt !== undefined;
  if (!complete) {
    return { title: chosen ? 'No output from these ranks yet' : 'No output yet', text: '' };
  }
  return chosen
    ? { title: 'These ranks wrote no output', text: 'The job has ended. Choose other ranks above.' }
    : { title: 'This job wrote no output', text: '' };
}

export function noCheckpoint(job: Job): EmptyText {
  if (hasEnded(job)) {
    return { title: 'This job has no checkpoints', text: 'It ended before saving one.' };
  }
  const every = job.spec?.checkpoint?.every_steps;
  const text = every
    ? `A checkpoint is saved every ${count(every)} steps and when the job is stopped.`
    : 'A checkpoint is saved at the end and when the job is stopped.';
  return { title: 'No checkpoints yet', text };
}

export function noAttempt(job: Pick<Job, 'state'>): EmptyText {
  return hasEnded(job)
    ? { title: 'This job never ran', text: 'It ended before it was placed.' }
    : { title: 'No attempts yet', text: 'The first attempt begins when the job is placed.' };
}
