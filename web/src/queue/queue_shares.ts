// Rows of the table of queues. Pure functions.
import type { ListQueuesResponse, QueueSlots, SlotQuota } from '../api/types';

export interface ShareRow {
  key: string;
  queue: string;
  tier: number;
  shares: number;
  slots: QueueSlots;
  limits: string;
}

// Returns, for example, "nominal 64, at most 128, 16 per user", or "".
export function limitText(quota: SlotQuota | undefined): string {
  if (!quota) return '';
  return [
    quota.nominal > 0 ? `nominal ${quota.nominal}` : '',
    quota.max_slots > 0 ? `at most ${quota.max_slots}` : '',
    quota.max_slots_per_user > 0 ? `${quota.max_slots_per_user} per user` : '',
  ]
    .filter(Boolean)
    .join(', ');
}

// Returns one row for each kind of slot that a queue uses. No rows if `default` is the only queue
// and has no settings, because there is nothing to compare then.
export function shareRows(response: ListQueuesResponse): ShareRow[] {
  const [only, ...others] = response.queues;
  const isPlain = others.length === 0 && only?.queue?.quotas.length === 0;
  if (isPlain) return [];
  return response.queues.flatMap(({ queue, slots }) =>
    slots.map((one) => ({
      key: `${queue?.name} ${one.device}`,
      queue: queue?.name ?? '',
      tier: queue?.tier ?? 0,
      shares: Math.max(1, queue?.shares ?? 1),
      slots: one,
      limits: limitText(queue?.quotas.find((quota) => quota.device === one.device)),
    })),
  );
}
