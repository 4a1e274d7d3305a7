// One line in the header: the jobs from which this job comes, and its child jobs.
import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { stale } from '../api/store';
import type { Job } from '../api/types';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import { relationsOf } from './lineage';
import { LineageDialog } from './lineage_dialog';

const JobLink = ({ id, text = `job ${id}` }: { id: number; text?: string }) => (
  <Link href={jobPath(id)}>{text}</Link>
);

function Children({ ids, others }: { ids: readonly number[]; others: number }) {
  return (
    <span>
      Jobs that started from this one:{' '}
      {ids.map((id, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}
          <JobLink id={id} text={String(id)} />
        </Fragment>
      ))}
      {others > 0 && ` and ${others} older`}
    </span>
  );
}

// A link in the tree opens another job, which closes the tree.
function LineageButton({ job }: { job: Job }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class="text-button"
        disabled={stale.value}
        onClick={() => setOpen(true)}
      >
        Lineage…
      </button>
      {open && <LineageDialog job={job} onClose={() => setOpen(false)} />}
    </>
  );
}

export function LineageLine({ job }: { job: Job }) {
  const relations = relationsOf(job);
  if (!relations) return null;
  const { resumedFrom, clonedFrom, children, otherChildren } = relations;
  return (
    <p class="lineage">
      {resumedFrom && (
        <span>
          Resumed from <JobLink id={resumedFrom.job} />
          {resumedFrom.step}
        </span>
      )}
      {clonedFrom !== undefined && (
        <span>
          Cloned from <JobLink id={clonedFrom} />
        </span>
      )}
      {children.length > 0 && <Children ids={children} others={otherChildren} />}
      <LineageButton job={job} />
    </p>
  );
}
