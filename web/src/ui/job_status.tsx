import type { Job } from '../api/types';
import { HEALTH_LOOK, lookOf } from '../format/words';
import { hasFinding, headline, wordOf } from '../job/health';
import { Badge, JobBadge } from './badge';

export const HealthBadge = ({ job }: { job: Job }) => (
  <Badge look={lookOf(HEALTH_LOOK, wordOf(job))} title={headline(job)} />
);

// Shows the health of a job that has a finding. Shows the state of any other job.
export const JobStatus = ({ job }: { job: Job }) =>
  hasFinding(job) ? (
    <HealthBadge job={job} />
  ) : (
    <JobBadge state={job.state} verdict={job.verdict} />
  );
