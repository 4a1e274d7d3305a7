// The estimated start of a waiting job. Pure functions.
import type { PendingReason } from '../api/types';
import { ABSENT } from '../format/numbers';
import { duration } from '../format/time';

type Estimate = Pick<
  PendingReason,
  'estimated_start_ms' | 'estimated_earliest_ms' | 'estimated_latest_ms'
>;

const wait = (timeMs: number, now: number) => duration(Math.max(0, timeMs - now) / 1000);

// Returns true if only time limits are known, so that the start may be much earlier.
function hasOnlyLatest(estimate: Estimate, now: number): boolean {
  return estimate.estimated_earliest_ms <= now && estimate.estimated_start_ms > now;
}

// Returns text such as "Starts in about 2h 00m (1h 00m to 3h 00m)", or "" if the start is unknown.
export function estimateText(estimate: Estimate, now: number): string {
  const { estimated_start_ms: start, estimated_latest_ms: latest } = estimate;
  if (start === 0) return '';
  if (start <= now) return 'Starts soon';
  if (hasOnlyLatest(estimate, now)) {
    return `Starts within ${wait(latest, now)}, if jobs run until their time limits`;
  }
  const range = `${wait(estimate.estimated_earliest_ms, now)} to ${wait(latest, now)}`;
  return `Starts in about ${wait(start, now)} (${range})`;
}

// Returns a short form such as "~ 2h 00m", or "< 2h 00m" if only a latest time is known.
export function estimateCell(estimate: Estimate | undefined, now: number): string {
  if (!estimate || estimate.estimated_start_ms === 0) return ABSENT;
  return hasOnlyLatest(estimate, now)
    ? `< ${wait(estimate.estimated_latest_ms, now)}`
    : `~ ${wait(estimate.estimated_start_ms, now)}`;
}
