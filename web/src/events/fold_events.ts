// Events as lists show them. Similar events are folded into one line:
// - starts, and equal exits, of the ranks of a gang
// - checkpoints that an attempt saves with no other event of its job in between
// - reconnects of a worker with no other event of its node in between
// - alerts of one code at one step, such as those of ranks that fail to save one checkpoint
//
// Pure functions.
import type { EventEntry } from '../api/types';
import { eventText, isInternal, type EventText } from '../format/event_text';

// `ranks`, `steps`, `contacts` and `alerts` list everything that a folded line represents,
// including its own event. `contacts` and `alerts` are sequence numbers. The events in `contacts`
// are connections of a worker.
export interface EventLine extends EventEntry {
  ranks?: readonly number[];
  steps?: readonly number[];
  contacts?: readonly number[];
  alerts?: readonly number[];
}

// Returns the node of an event about a worker's connection, else undefined.
function contactNode({ event }: EventEntry): string | undefined {
  const { node_suspected: suspected, node_returned: returned, node_joined: joined } = event ?? {};
  return suspected?.node_id ?? returned?.node_id ?? joined?.node?.id;
}

// Number of events so far, by job ("#7") and by node (its id).
type Happened = Map<string, number>;

// Events with the same key are folded into one line. An event whose key is undefined is never
// folded. `newer` counts, for each job and node, the newer events that are not folded, and the
// folded alerts.
function foldKey(entry: EventEntry, newer: Happened): string | undefined {
  const { event } = entry;
  const { rank_started: started, rank_exited: exited, checkpoint_published: saved } = event ?? {};
  const node = contactNode(entry);
  if (node !== undefined) return `contact/${node}/${newer.get(node) ?? 0}`;
  if (started) return `started/${started.job_id}/${started.attempt}`;
  if (saved) {
    const { job_id: job, checkpoint } = saved;
    return `saved/${job}/${checkpoint?.attempt}/${newer.get(`#${job}`) ?? 0}`;
  }
  if (event?.alert_raised) {
    const { job_id: job, attempt, code, step } = event.alert_raised;
    return `alert/${job}/${attempt}/${code}/${step}`;
  }
  if (!exited) return undefined;
  const { job_id: job, attempt, exit_code: code, signal, out_of_memory: memory } = exited;
  const { spawn_error: error, stop_requested: asked } = exited;
  return `exited/${job}/${attempt}/${code}/${signal}/${memory}/${error}/${asked}`;
}

const union = (a: readonly number[], b: readonly number[]) => [...new Set([...a, ...b])];

const rankOf = ({ event }: EventEntry): number =>
  event?.rank_started?.rank ?? event?.rank_exited?.rank ?? 0;

const stepOf = ({ event }: EventEntry): number =>
  event?.checkpoint_published?.checkpoint?.step ?? 0;

const contactsOf = ({ event, sequence, contacts }: EventLine): readonly number[] =>
  contacts ?? (event?.node_suspected ? [] : [sequence]);

function merged(a: EventLine, b: EventLine): EventLine {
  const newer = a.sequence >= b.sequence ? a : b;
  const actor = a.event?.actor === b.event?.actor ? a.event?.actor : '';
  const event = newer.event && { ...newer.event, actor: actor ?? '' };
  const line = { ...newer, ...(event ? { event } : {}) };
  if (contactNode(newer) !== undefined) {
    return { ...line, contacts: union(contactsOf(a), contactsOf(b)) };
  }
  if (event?.checkpoint_published) {
    return { ...line, steps: union(a.steps ?? [stepOf(a)], b.steps ?? [stepOf(b)]) };
  }
  if (event?.alert_raised) {
    return { ...line, alerts: union(a.alerts ?? [a.sequence], b.alerts ?? [b.sequence]) };
  }
  return { ...line, ranks: union(a.ranks ?? [rankOf(a)], b.ranks ?? [rankOf(b)]) };
}

function countEvent({ event }: EventEntry, newer: Happened): void {
  const { jobId, nodeId } = (event && eventText(event)) ?? {};
  const about = jobId === undefined ? nodeId : `#${jobId}`;
  if (about !== undefined) newer.set(about, (newer.get(about) ?? 0) + 1);
}

// Returns the lines, newest first. Each event is included once, and internal events are left out. A
// folded line has the position of its newest event. A line with several actors names none. Folding
// folded lines again changes nothing.
export function foldEvents(entries: readonly EventLine[]): EventLine[] {
  const bySequence = new Map<number, EventLine>();
  const byKey = new Map<string, EventLine>();
  const newer: Happened = new Map();
  const ordered = [...entries].sort((a, b) => b.sequence - a.sequence);
  for (const entry of ordered) {
    if (isInternal(entry)) continue;
    const key = foldKey(entry, newer);
    if (key === undefined) {
      if (!bySequence.has(entry.sequence)) countEvent(entry, newer);
      bySequence.set(entry.sequence, entry);
      continue;
    }
    const held = byKey.get(key);
    if (!held && entry.event?.alert_raised) countEvent(entry, newer);
    byKey.set(key, held ? merged(held, entry) : entry);
  }
  return [...bySequence.values(), ...byKey.values()].sort((a, b) => b.sequence - a.sequence);
}

export function lineText(line: EventLine): EventText | undefined {
  const { event, ranks, steps, contacts, alerts } = line;
  if (!event) return undefined;
  const base = eventText(event);
  if (contacts && contacts.length > 1) {
    const times = event.node_returned ? '' : 'connected ';
    return { ...base, text: `${base.text} (${times}${contacts.length} times)` };
  }
  if (alerts && alerts.length > 1) {
    return { ...base, text: `${base.text} (reported ${alerts.length} times)` };
  }
  if (steps && steps.length > 1) {
    const newest = base.text.replace(/^checkpoint /, '');
    const saved = `${steps.length} checkpoints from step ${Math.min(...steps)}`;
    return { ...base, text: `${saved}, latest ${newest}` };
  }
  if (!ranks || ranks.length < 2) return base;
  return { ...base, text: base.text.replace(/^rank \d+/, `${ranks.length} ranks`) };
}

// Returns the sequence number of a job's newest event; 0 if there is none. `lines` must be sorted
// newest first.
export function newestOf(lines: readonly EventLine[], jobId: number): number {
  return lines.find(({ event }) => event && eventText(event).jobId === jobId)?.sequence ?? 0;
}

// Merges the loaded events with a newly requested first page, newest first. If the page does not
// reach back to the loaded events, there are unknown events in between (`gap`). In this case only
// the page is kept, and its cursor loads the older events.
export function withFirstPage(
  held: readonly EventEntry[],
  page: readonly EventEntry[],
): { entries: readonly EventEntry[]; gap: boolean } {
  const oldest = page.at(-1)?.sequence ?? 0;
  const gap = page.length > 0 && held.length > 0 && oldest > (held[0] as EventEntry).sequence;
  return { entries: gap ? page : withPage(held, page), gap };
}

export function withPage(
  held: readonly EventEntry[],
  page: readonly EventEntry[],
): readonly EventEntry[] {
  const bySequence = new Map([...held, ...page].map((entry) => [entry.sequence, entry]));
  return [...bySequence.values()].sort((a, b) => b.sequence - a.sequence);
}
