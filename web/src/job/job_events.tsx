import { live } from '../api/store';
import type { Job } from '../api/types';
import { EventView } from '../events/event_view';
import { newestOf } from '../events/fold_events';

export function JobEvents({ job }: { job: Job }) {
  const tick = newestOf(live.value.events ?? [], job.id);
  return <EventView path={`/jobs/${job.id}/events`} tick={tick} ofJob />;
}
