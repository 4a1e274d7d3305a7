// The form of a reservation of nodes. Pure functions.
import type { NodeReservation } from '../api/types';
import { quoted } from '../format/shell';
import { durationMs } from '../format/time';

export type Owner = 'nobody' | 'queue' | 'user';

export interface Draft {
  name: string;
  // Names and ranges, such as "gpu[01-04],gpu07".
  nodes: string;
  // Local time, such as "2026-12-01T08:00"; empty: now.
  start: string;
  length: string;
  // The users whose jobs may use the nodes.
  owner: Owner;
  ownerName: string;
  reason: string;
  drain: boolean;
}

export const NO_RESERVATION: Draft = {
  name: '',
  nodes: '',
  start: '',
  length: '2h',
  owner: 'nobody',
  ownerName: '',
  reason: '',
  drain: false,
};

const lengthOf = (draft: Draft) => durationMs(draft.length.trim()) ?? 0;

export const lengthProblem = (draft: Draft): string | undefined =>
  lengthOf(draft) > 0 ? undefined : 'Enter a duration such as 30m, 2h or 3d.';

export const canReserve = (draft: Draft): boolean =>
  draft.name.trim() !== '' &&
  draft.nodes.trim() !== '' &&
  !lengthProblem(draft) &&
  (draft.owner === 'nobody' || draft.ownerName.trim() !== '');

export function reservationOf(draft: Draft, nowMs: number): Omit<NodeReservation, 'name'> {
  const start = draft.start === '' ? nowMs : Date.parse(draft.start);
  const { owner, drain, reason } = draft;
  return {
    nodes: [draft.nodes.trim()],
    start_ms: start,
    end_ms: start + lengthOf(draft),
    queue: owner === 'queue' ? draft.ownerName.trim() : '',
    user: owner === 'user' ? draft.ownerName.trim() : '',
    reason,
    drain,
  };
}

export function reservationCommand(draft: Draft): string {
  const { name, nodes, start, length, owner, ownerName, reason, drain } = draft;
  // Date.parse() returns NaN while the user types the time.
  const from = Date.parse(start);
  return [
    `trainyard reservation create ${name.trim() || 'NAME'}`,
    `--nodes ${quoted(nodes.trim() || 'NODES')}`,
    from ? `--from ${new Date(from).toISOString().slice(0, 16)}Z` : '',
    `--for ${length.trim()}`,
    owner === 'nobody' ? '' : `--${owner} ${quoted(ownerName.trim())}`,
    drain ? '--drain' : '',
    reason ? `--reason ${quoted(reason)}` : '',
  ]
    .filter(Boolean)
    .join(' ');
}

// Patterns of the controller's messages about the fields.
export const PATTERNS = {
  name: /^the name|a reservation is called/,
  length: /the reservation (must|would) end/,
  owner: /no queue is|for a queue or|user of a reservation/,
  reason: /reason of a reservation/,
  nodes: /node|names|is reserved by/,
};
