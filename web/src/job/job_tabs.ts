// The tabs of a job's page. Pure functions.
import type { Job } from '../api/types';
import { JOB_TABS, type JobTab } from '../router/url';

// True if the job file describes a model with experts. Other programs may report experts, too; the
// tab of such a job is shown when the tab's URL is opened.
export const hasExperts = (job: Pick<Job, 'spec'>): boolean =>
  (job.spec?.model?.num_experts ?? 0) > 0;

// True if the job prepares training data.
export const makesDataset = (job: Pick<Job, 'spec'>): boolean => job.spec?.kind === 'data';

// True if the job is an array. Its elements are jobs of their own.
export const hasElements = (job: Pick<Job, 'array'>): boolean => job.array !== undefined;

// `open`: the tab that is open.
export const tabsOf = (job: Pick<Job, 'spec' | 'array'>, open?: JobTab): JobTab[] =>
  JOB_TABS.filter((tab) => {
    if (tab === open) return true;
    if (tab === 'experts') return hasExperts(job);
    if (tab === 'elements') return hasElements(job);
    return tab !== 'data' || makesDataset(job);
  });
