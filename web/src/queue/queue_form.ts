// The form of a queue's settings. Pure functions.
import type { Queue, SlotQuota } from '../api/types';

export const KINDS = ['gpu', 'cpu'] as const;
type Kind = (typeof KINDS)[number];

// Limits of the slots of one kind: field, option of the command line, label.
export const LIMITS = [
  ['nominal', '--nominal', 'Nominal'],
  ['max_slots', '--max', 'Maximum'],
  ['max_slots_per_user', '--max-per-user', 'Per user'],
] as const;
type Limit = (typeof LIMITS)[number][0];

export type FieldName = 'name' | 'shares' | 'tier' | `${Kind} ${Limit}`;

// The texts of the form.
export type Draft = Record<FieldName, string>;

const quotaFields = KINDS.flatMap((kind) =>
  LIMITS.map(([limit]) => [`${kind} ${limit}`, kind, limit] as const),
);

// No text means 0, which is no limit.
const textOf = (slots: number | undefined) => (slots ? String(slots) : '');

export function draftOf(queue: Queue | undefined): Draft {
  const quotas = new Map(queue?.quotas.map((quota) => [quota.device, quota]));
  const limits = quotaFields.map(([field, kind, limit]) => [
    field,
    textOf(quotas.get(kind)?.[limit]),
  ]);
  return {
    name: queue?.name ?? '',
    shares: String(queue?.shares || 1),
    tier: String(queue?.tier ?? 0),
    ...(Object.fromEntries(limits) as Record<`${Kind} ${Limit}`, string>),
  };
}

// Returns why the text cannot be sent. The controller checks the ranges.
export function problemIn(field: FieldName, text: string): string | undefined {
  if (field === 'name') return undefined;
  const isNumber = /^-?\d+$/.test(text.trim()) || (text.trim() === '' && field.includes(' '));
  return isNumber ? undefined : 'Enter a whole number.';
}

export const canSend = (draft: Draft): boolean =>
  draft.name.trim() !== '' &&
  Object.entries(draft).every(([field, text]) => !problemIn(field as FieldName, text));

export function queueOf(draft: Draft): Queue {
  const quotas = KINDS.map((device): SlotQuota => ({
    device,
    nominal: Number(draft[`${device} nominal`]),
    max_slots: Number(draft[`${device} max_slots`]),
    max_slots_per_user: Number(draft[`${device} max_slots_per_user`]),
  }));
  return {
    name: draft.name.trim(),
    shares: Number(draft.shares),
    tier: Number(draft.tier),
    quotas: quotas.filter((quota) => LIMITS.some(([limit]) => quota[limit] !== 0)),
  };
}

// Returns the queue with the settings that differ between the draft and `before`. Changes by others
// remain.
export function changedQueue(queue: Queue, draft: Draft, before: Draft): Queue {
  const changed = Object.entries(draft).filter(
    ([field, text]) => text.trim() !== before[field as FieldName],
  );
  return queueOf({ ...draftOf(queue), ...(Object.fromEntries(changed) as Partial<Draft>) });
}

// Returns the command line that changes the settings in `before` to those of the draft.
export function queueCommand(draft: Draft, before: Draft): string {
  const changed = (field: FieldName) => draft[field].trim() !== before[field];
  const limits = quotaFields
    .filter(([field]) => changed(field))
    .map(([field, kind, limit]) => {
      const option = LIMITS.find(([name]) => name === limit)?.[1];
      return ` ${option} ${kind}=${Number(draft[field])}`;
    });
  const shares = changed('shares') ? ` --shares ${draft.shares.trim()}` : '';
  const tier = changed('tier') ? ` --tier ${draft.tier.trim()}` : '';
  return `trainyard queue set ${draft.name.trim() || 'NAME'}${shares}${tier}${limits.join('')}`;
}

// Patterns of the controller's messages about the fields. A message about a limit names the kind.
export const PATTERNS: Record<FieldName, RegExp> = {
  name: /queue name/,
  shares: /`shares`/,
  tier: /`tier`/,
  ...(Object.fromEntries(
    quotaFields.map(([field, kind, limit]) => [
      field,
      new RegExp(`(?=.*\`${limit}\`)(?=.* ${kind} slots)`),
    ]),
  ) as Record<`${Kind} ${Limit}`, RegExp>),
};
