import { live } from '../api/store';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { EventList } from './event_list';
import { useEvents } from './use_events';

export function Events() {
  const newest = live.value.events?.[0]?.sequence ?? 0;
  const { lines: loaded, error, loadOlder } = useEvents('/events', newest);
  // Without an answer, the page shows the events that the stream has sent.
  const lines = loaded ?? (error && live.value.events);
  return (
    <>
      <div class="page-head">
        <h1>Events</h1>
      </div>
      {error && <Failure error={error} />}
      {!lines && !error && <Skeleton rows={10} />}
      {lines?.length === 0 && <Empty title="No events yet" />}
      {lines && <EventList lines={lines} />}
      {loadOlder && (
        <button type="button" class="more" onClick={loadOlder}>
          Older events
        </button>
      )}
    </>
  );
}
