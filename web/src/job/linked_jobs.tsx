// Links to the jobs that make or read a data set.
import { Fragment } from 'preact';
import type { ReportedDataSet } from '../api/types';
import { ABSENT, plural } from '../format/numbers';
import { Link } from '../router/router';
import { jobPath } from '../router/url';

export function LinkedJobs({ set }: { set: ReportedDataSet }) {
  if (set.jobs.length === 0) return <>{ABSENT}</>;
  return (
    <>
      {set.jobs.map((job, index) => (
        <Fragment key={job.job_id}>
          {index > 0 && ', '}
          <Link href={jobPath(job.job_id, set.is_input ? 'data' : 'curves')}>
            {job.name} #{job.job_id}
          </Link>
        </Fragment>
      ))}
      {set.omitted_jobs > 0 && ` and ${plural(set.omitted_jobs, 'older job')}`}
    </>
  );
}
