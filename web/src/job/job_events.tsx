import { live } from '../api/store';
import type { Job } from '../api/types';
import { EventList } from '../events/event_list';
import { newestOf } from '../events/fold_events';
import { useEvents } from '../events/use_events';
import { Empty, Failure, Skeleton } from '../ui/notice';

export function JobEvents({ job }: { job: Job }) {
  const tick = newestOf(live.value.events ?? [], job.id);
  const { lines, error, loadOlder } = useEvents(`/jobs/${job.id}/events`, tick);
  return (
    <>
      {error && <Failure error={error} />}
      {!lines && !error && <Skeleton rows={8} />}
      {lines?.length === 0 && <Empty title="No events" />}
      {lines && <EventList lines={lines} about={false} />}
      {loadOlder && (
        <button type="button" class="more" onClick={loadOlder}>
          Older events
        </button>
      )}
    </>
  );
}
