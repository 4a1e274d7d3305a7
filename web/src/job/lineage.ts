// The ancestors of a job, and the jobs derived from the job. Pure functions.
import type { GetLineageResponse, Job, LineageJob } from '../api/types';
import { count } from '../format/numbers';

// Number of children that the header shows. The dialog shows all children.
const SHOWN_CHILDREN = 6;

export interface Relations {
  resumedFrom: { job: number; step: string } | undefined;
  // undefined if there is none, or if it is the job in `resumedFrom`.
  clonedFrom: number | undefined;
  // The newest children, ascending.
  children: number[];
  otherChildren: number;
}

// Returns undefined if the job has no relations.
export function relationsOf(
  job: Pick<Job, 'resumed_from' | 'cloned_from' | 'children'>,
): Relations | undefined {
  const { resumed_from: origin, cloned_from: cloned, children } = job;
  if (!origin && !cloned && children.length === 0) return undefined;
  const step = origin && origin.step > 0 ? ` (step ${count(origin.step)})` : '';
  return {
    resumedFrom: origin && { job: origin.job_id, step },
    clonedFrom: cloned && cloned !== origin?.job_id ? cloned : undefined,
    children: children.slice(-SHOWN_CHILDREN),
    otherChildren: Math.max(0, children.length - SHOWN_CHILDREN),
  };
}

export interface Branch {
  job: LineageJob;
  isOpen: boolean;
  below: Branch[];
}

// Returns the tree from the oldest known ancestor. `isOpen` marks the requested job.
export function treeOf({ job, ancestors, descendants }: GetLineageResponse): Branch | undefined {
  if (!job) return undefined;
  const branch = (one: LineageJob): Branch => ({
    job: one,
    isOpen: one.job_id === job.job_id,
    below: descendants.filter(({ parent_id: parent }) => parent === one.job_id).map(branch),
  });
  return ancestors.reduce<Branch>(
    (below, one) => ({ job: one, isOpen: false, below: [below] }),
    branch(job),
  );
}

// Returns how a job came from its parent, such as "resumed from step 4,000".
export function relationText({ parent_id: parent, resumed, step }: LineageJob): string {
  if (!parent) return '';
  if (!resumed) return 'cloned';
  return step > 0 ? `resumed from step ${count(step)}` : 'resumed';
}
