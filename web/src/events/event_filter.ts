// The filter of an event list. Pure functions.
import { eventKind, type EventText } from '../format/event_text';
import { lineText, type EventLine } from './fold_events';

export const EVENT_KINDS = [
  'all',
  'problems',
  'jobs',
  'attempts',
  'checkpoints',
  'alerts',
  'notes',
  'nodes',
] as const;
export type EventKindName = (typeof EVENT_KINDS)[number];

export interface EventFilter {
  kind: EventKindName;
  // Every word of the text must be in the line. Case is ignored.
  text: string;
}

// The first prefix that fits decides.
const PREFIXES: readonly (readonly [string, EventKindName])[] = [
  ['job_placed', 'attempts'],
  ['job_', 'jobs'],
  ['attempt_', 'attempts'],
  ['rank_', 'attempts'],
  ['checkpoint_', 'checkpoints'],
  ['alert_', 'alerts'],
  ['note_', 'notes'],
  ['node_', 'nodes'],
];

function hasKind({ event }: EventLine, { tone }: EventText, kind: EventKindName): boolean {
  if (kind === 'all') return true;
  if (kind === 'problems') return tone === 'bad' || tone === 'warn';
  const name = (event && eventKind(event)) ?? '';
  return PREFIXES.find(([prefix]) => name.startsWith(prefix))?.[1] === kind;
}

// `nameOf` returns the name of the job or node that an event is about.
export function isShown(
  line: EventLine,
  { kind, text }: EventFilter,
  nameOf: (described: EventText) => string,
): boolean {
  const described = lineText(line);
  if (!described || !hasKind(line, described, kind)) return false;
  const held = `${nameOf(described)} ${described.text} ${line.event?.actor ?? ''}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => held.includes(word));
}
