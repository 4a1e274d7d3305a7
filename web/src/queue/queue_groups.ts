// Groups queued jobs by what they wait for. Pure functions.
import type { Job, PendingReason } from '../api/types';

export interface QueueGroups {
  // Jobs with a reason of their own, in queue order.
  waiting: Job[];
  // Jobs that wait behind the head of the queue, one group per head.
  behind: BehindGroup[];
}

export interface BehindGroup {
  // The head of the queue.
  blockerId: number;
  // The jobs that were received, in queue order.
  jobs: Job[];
  // The number of jobs in the group, including jobs that the stream does not send.
  total: number;
}

// `jobs` must be in queue order. `amount` is the number of queued jobs in the whole cluster. The
// stream omits only jobs at the end of the queue. These jobs wait behind the head of the queue.
export function groupQueue(
  jobs: readonly Job[],
  pending: ReadonlyMap<number, PendingReason>,
  amount: number,
): QueueGroups {
  const waiting: Job[] = [];
  const byBlocker = new Map<number, Job[]>();
  for (const job of jobs) {
    const blocker = pending.get(job.id)?.blocking_job_id ?? 0;
    if (blocker === 0) {
      waiting.push(job);
      continue;
    }
    const group = byBlocker.get(blocker) ?? [];
    group.push(job);
    byBlocker.set(blocker, group);
  }
  const omitted = Math.max(0, amount - jobs.length);
  const behind = [...byBlocker].map(([blockerId, held], index) => ({
    blockerId,
    jobs: held,
    total: held.length + (index === byBlocker.size - 1 ? omitted : 0),
  }));
  return { waiting, behind };
}
