import { live } from '../api/store';
import { EventView } from './event_view';

export function Events() {
  return (
    <>
      <div class="page-head">
        <h1>Events</h1>
      </div>
      <EventView
        path="/events"
        tick={live.value.events?.[0]?.sequence ?? 0}
        streamed={live.value.events}
      />
    </>
  );
}
