// One line above the curves: the trend of the loss, its spikes, and advice.
import { metricsTick } from '../api/store';
import type { GetLossReportResponse, Job } from '../api/types';
import { useLoad } from '../ui/load';
import { useThrottled } from '../ui/throttle';
import { lossText } from './loss_text';

const PACE_MS = 10_000;

export function LossReport({ job }: { job: Job }) {
  const { data, loading } = useLoad<GetLossReportResponse>(
    `/jobs/${job.id}/loss`,
    {},
    String(job.id),
    useThrottled(metricsTick.value, PACE_MS),
  );
  // Reserves space, so that the charts do not move when the line arrives.
  if (loading) return <p class="loss-report">&nbsp;</p>;
  // It is too early in the job, or the job reports no losses.
  if (!data?.curve) return null;
  const { facts, advice } = lossText(data.curve);
  return (
    <p class="loss-report" aria-label="Loss analysis">
      {facts.join(' · ')}
      {advice && <span class="tone-warn"> · {advice}</span>}
    </p>
  );
}
