// Reservations of a node. Pure functions.
import type { Node } from '../api/types';
import { duration } from '../format/time';

const seconds = (ms: number) => Math.round(ms / 1000);

// Returns texts such as "reserved as maint in 2h 00m for 3h 00m: new fans".
export function reservationTexts({ reservations }: Node, nowMs: number): string[] {
  return (reservations ?? []).map(({ name, start_ms: start, end_ms: end, reason }) => {
    const time =
      start > nowMs
        ? ` in ${duration(seconds(start - nowMs))} for ${duration(seconds(end - start))}`
        : `, ${duration(seconds(end - nowMs))} left`;
    return `reserved as ${name}${time}${reason ? `: ${reason}` : ''}`;
  });
}
