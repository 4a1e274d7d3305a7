// Rows of the table of queues. Pure functions.
import type { ListQueuesResponse, Queue, QueueSlots, SlotQuota } from '../api/types';

export interface ShareRow {
  key: string;
  queue: Queue;
  // Undefined if the queue has no slots, waiting jobs and usage of any kind.
  slots: QueueSlots | undefined;
  limits: string;
  // True for the first row of the queue.
  isFirst: boolean;
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

// Returns the users who hold slots, such as "ada 32, bob 8".
export const holdersText = (slots: QueueSlots | undefined): string =>
  (slots?.users ?? [])
    .filter(({ held_slots: held }) => held > 0)
    .map(({ user, held_slots: held }) => `${user || 'unknown'} ${held}`)
    .join(', ');

const NO_SETTINGS: Queue = { name: '', shares: 0, tier: 0, quotas: [] };

// Returns one row for each kind of slot that a queue uses, and one row for an unused queue. No rows
// if `default` is the only queue and has no settings, because there is nothing to compare then.
export function shareRows(response: ListQueuesResponse): ShareRow[] {
  const [only, ...others] = response.queues;
  const { quotas, tier, shares } = only?.queue ?? NO_SETTINGS;
  const isPlain = others.length === 0 && quotas.length === 0 && tier === 0 && shares <= 1;
  if (isPlain) return [];
  return response.queues.flatMap(({ queue = NO_SETTINGS, slots }): ShareRow[] => {
    if (slots.length === 0) {
      const limits = queue.quotas.map((quota) => `${quota.device}: ${limitText(quota)}`).join('; ');
      return [{ key: queue.name, queue, slots: undefined, limits, isFirst: true }];
    }
    return slots.map((one, index) => ({
      key: `${queue.name} ${one.device}`,
      queue,
      slots: one,
      limits: limitText(queue.quotas.find(({ device }) => device === one.device)),
      isFirst: index === 0,
    }));
  });
}
