import { openJob } from '../api/store';
import type { Job } from '../api/types';
import { EventList } from '../events/event_list';
import { useEvents } from '../events/use_events';
import { Empty, Failure, Skeleton } from '../ui/notice';

export function JobEvents({ job }: { job: Job }) {
  // Grows with each durable event of the job.
  const tick = openJob.value?.events.at(-1)?.time_ms ?? 0;
  const { entries, error, loadOlder } = useEvents(`/jobs/${job.id}/events`, tick);
  return (
    <>
      {error && <Failure error={error} />}
      {!entries && !error && <Skeleton rows={8} />}
      {entries?.length === 0 && <Empty title="No events" />}
      {entries && <EventList entries={entries} about={false} />}
      {loadOlder && (
        <button type="button" class="more" onClick={loadOlder}>
          Older events
        </button>
      )}
    </>
  );
}
