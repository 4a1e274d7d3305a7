import { jobNames, live } from '../api/store';
import { plural } from '../format/numbers';
import { shapeText } from '../job/progress';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import type { BehindGroup } from './queue_groups';

// Shows a sentence such as "2,501 jobs wait behind mixtral (#12), which needs 30 × 8 gpu."
export function BehindText({ group }: { group: BehindGroup }) {
  const { blockerId, total } = group;
  const blocker = live.value.jobs?.get(blockerId);
  const name = blocker?.name ?? jobNames.value[String(blockerId)] ?? 'job';
  return (
    <>
      {plural(total, 'job')} {total === 1 ? 'waits' : 'wait'} behind{' '}
      <Link href={jobPath(blockerId)}>
        {name} (#{blockerId})
      </Link>
      {blocker && `, which needs ${shapeText(blocker)}`}.
    </>
  );
}
