// The tabs of a job's page. Pure functions.
import type { Job } from '../api/types';
import { JOB_TABS, type JobTab } from '../router/url';

// True if the job file describes a model with experts. Other programs may report experts, too; the
// tab of such a job is shown when the tab's URL is opened.
export const hasExperts = (job: Pick<Job, 'spec'>): boolean =>
  (job.spec?.model?.num_experts ?? 0) > 0;

// True if the job reports data sets: those that a data job makes, or those that trainyard-trainer
// reads. Programs of a `command` report none.
export const hasDataSets = ({ spec }: Pick<Job, 'spec'>): boolean =>
  spec !== undefined && (spec.kind === 'data' || (spec.command ?? []).length === 0);

// True if the job is an array. Its elements are jobs of their own.
export const hasElements = (job: Pick<Job, 'array'>): boolean => job.array !== undefined;

// `open`: the tab that is open.
export const tabsOf = (job: Pick<Job, 'spec' | 'array'>, open?: JobTab): JobTab[] =>
  JOB_TABS.filter((tab) => {
    if (tab === open) return true;
    if (tab === 'experts') return hasExperts(job);
    if (tab === 'elements') return hasElements(job);
    return tab !== 'data' || hasDataSets(job);
  });
