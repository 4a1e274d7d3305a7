// The command that shows the documents of a step. Pure functions.
import type { Job } from '../api/types';

// True if the order of the job's samples is known, which is the case if it runs trainyard-trainer
// from the beginning.
export const hasDocuments = ({ spec }: Pick<Job, 'spec'>): boolean =>
  (spec?.command ?? []).length === 0 &&
  !spec?.pipeline &&
  !spec?.checkpoint?.resume_from &&
  (Boolean(spec?.data?.path) || (spec?.data?.blend ?? []).length > 0);

// Without an attempt, the command uses the newest one that trained the step.
export const documentsCommandLine = (job: number, step: number, attempt?: number): string =>
  `trainyard documents ${job}${attempt === undefined ? '' : `@${attempt}`} --step ${step}`;
