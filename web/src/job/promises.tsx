// The times that were promised to a waiting job, with the cause of each change.
import { serverNow } from '../api/store';
import type { PendingReason } from '../api/types';
import { ago, clockTime } from '../format/time';

type Change = PendingReason['promises'][number];

// Returns a line such as "3m ago: slots by 14:20:00, the time limit of job 9 (eval) was extended".
export function promiseText(change: Change, now: number): string {
  const promised =
    change.promised_ms > 0 ? `slots by ${clockTime(change.promised_ms, now)}` : 'no time known';
  return `${ago(change.time_ms, now)}: ${promised}, ${change.reason}`;
}

export function Promises({ pending }: { pending: PendingReason }) {
  const newest = pending.promises.at(-1);
  if (!newest) return null;
  const now = serverNow.value;
  return (
    <details class="promises">
      <summary>
        {newest.promised_ms > 0
          ? `Slots are promised by ${clockTime(newest.promised_ms, now)}`
          : 'No slots are promised'}
      </summary>
      <ul>
        {pending.promises.map((change) => (
          <li key={`${change.time_ms}-${change.cause}`}>{promiseText(change, now)}</li>
        ))}
      </ul>
    </details>
  );
}
