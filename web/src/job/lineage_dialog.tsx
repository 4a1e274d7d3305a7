// The lineage of a job as a tree.
import type { GetLineageResponse, Job } from '../api/types';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import { JobBadge } from '../ui/badge';
import { Dialog } from '../ui/dialog';
import { useLoad } from '../ui/load';
import { Failure, Skeleton } from '../ui/notice';
import { relationText, treeOf, type Branch } from './lineage';

function BranchItem({ branch }: { branch: Branch }) {
  const { job, isOpen, below } = branch;
  const name = `${job.name} #${job.job_id}`;
  return (
    <li>
      <p class="lineage-job">
        {job.name === '' ? (
          <span class="faint">job {job.job_id} (deleted)</span>
        ) : isOpen ? (
          <b aria-current="page">{name}</b>
        ) : (
          <Link href={jobPath(job.job_id)}>{name}</Link>
        )}
        {job.name !== '' && <JobBadge state={job.state} />}
        <span class="faint">{relationText(job)}</span>
      </p>
      {below.length > 0 && (
        <ul>
          {below.map((one) => (
            <BranchItem key={one.job.job_id} branch={one} />
          ))}
        </ul>
      )}
    </li>
  );
}

export function LineageDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const path = `/jobs/${job.id}/lineage`;
  const { data, error } = useLoad<GetLineageResponse>(path, {}, String(job.id));
  const tree = data && treeOf(data);
  return (
    <Dialog title={`Lineage of ${job.name} #${job.id}`} onClose={onClose}>
      {error && <Failure error={error} />}
      {!data && !error && <Skeleton rows={4} />}
      {tree && (
        <ul class="lineage-tree">
          <BranchItem branch={tree} />
        </ul>
      )}
      {data?.more && <p class="faint">There are more jobs than the tree shows.</p>}
    </Dialog>
  );
}
