// Groups related lines of an event list: the restart of a job, equal restarts in a row, and many
// nodes that reconnect or stop sending heartbeats at once. Pure functions.
import type { Event, Verdict } from '../api/types';
import { eventText, type EventText } from '../format/event_text';
import { count, plural } from '../format/numbers';
import { duration } from '../format/time';
import { lineText, type EventLine } from './fold_events';

export interface EventItem {
  // The newest event of the item.
  newest: EventLine;
  described: EventText;
  // The lines of a group, newest first; empty for a single line.
  parts: readonly EventLine[];
}

interface AttemptEvent {
  jobId: number;
  // The attempt that ended, or the one before the attempt that started.
  after: number;
}

// Returns the restart to which an event may belong; undefined for other events.
function restartOf(event: Event): AttemptEvent | undefined {
  const ended =
    event.rank_exited ?? event.attempt_failed ?? event.attempt_rolled_back ?? event.attempt_ended;
  if (ended) return { jobId: ended.job_id, after: ended.attempt };
  const started =
    event.job_placed ?? event.rank_started ?? event.attempt_running ?? event.attempt_began;
  return started && { jobId: started.job_id, after: started.attempt - 1 };
}

const keyOf = ({ jobId, after }: AttemptEvent) => `restart/${jobId}/${after}`;

const failureOf = ({ event }: EventLine) => event?.attempt_failed ?? event?.attempt_rolled_back;

// Keys of the attempts whose failure is in the list.
function failedKeys(lines: readonly EventLine[]): Set<string> {
  return new Set(
    lines.flatMap((line) => {
      const failed = failureOf(line);
      return failed ? [keyOf({ jobId: failed.job_id, after: failed.attempt })] : [];
    }),
  );
}

// Events of different nodes are grouped if they are at most this far apart.
const TOGETHER_MS = 60_000;

// Returns the kind of an event that many nodes may have at the same time.
function nodeKind({ node_returned, node_suspected, node_joined }: Event): string | undefined {
  if (node_returned) return 'reconnected';
  if (node_suspected) return 'sent no heartbeat';
  return node_joined && 'joined';
}

// Assigns lines to groups. Keeps open the newest group of each kind of node event.
class Grouping {
  private readonly failed: ReadonlySet<string>;
  private readonly open = new Map<string, { key: string; time: number }>();

  constructor(lines: readonly EventLine[]) {
    this.failed = failedKeys(lines);
  }

  // Call with the newest line first.
  keyOf({ event, sequence }: EventLine): string {
    const alone = `line/${sequence}`;
    if (!event) return alone;
    const restart = restartOf(event);
    if (restart) return this.failed.has(keyOf(restart)) ? keyOf(restart) : alone;
    const kind = nodeKind(event);
    if (!kind) return alone;
    const open = this.open.get(kind);
    if (open && open.time - event.time_ms <= TOGETHER_MS) return open.key;
    const key = `nodes/${kind}/${sequence}`;
    this.open.set(kind, { key, time: event.time_ms });
    return key;
  }
}

const FEWEST_NODES = 3;

function restartText(lines: readonly EventLine[]): EventText | undefined {
  const failed = lines.find(failureOf);
  const described = failed && lineText(failed);
  if (!failed || !described) return undefined;
  const placed = lines.find(({ event }) => event?.job_placed)?.event?.job_placed;
  const running = lines.find(({ event }) => event?.attempt_running)?.event;
  if (!placed && !running) return described;
  const number = (placed ?? running?.attempt_running)?.attempt ?? 0;
  const from = placed && placed.resume_step > 0 ? ` from step ${count(placed.resume_step)}` : '';
  const seconds = running && (running.time_ms - (failed.event?.time_ms ?? 0)) / 1000;
  const outcome =
    seconds === undefined ? `restarting${from}` : `restarted${from} in ${duration(seconds)}`;
  const text = `${described.text}; ${outcome} (attempt ${number})`;
  return { ...described, text, tone: 'warn', icon: 'retry' };
}

function nodesText(lines: readonly EventLine[]): EventText | undefined {
  const [newest] = lines;
  if (!newest?.event || lines.length < FEWEST_NODES) return undefined;
  const { tone, icon } = eventText(newest.event);
  return { text: `${plural(lines.length, 'node')} ${nodeKind(newest.event)}`, tone, icon };
}

function itemsOf(key: string, lines: readonly EventLine[]): EventItem[] {
  const described = key.startsWith('restart/') ? restartText(lines) : nodesText(lines);
  if (described && lines.length > 1) {
    return [{ newest: lines[0] as EventLine, described, parts: lines }];
  }
  return lines.flatMap((newest) => {
    const own = lineText(newest);
    return own ? [{ newest, described: own, parts: [] }] : [];
  });
}

interface Failure {
  jobId: number;
  attempt: number;
  verdict: Verdict | undefined;
}

function failureIn({ parts }: EventItem): Failure | undefined {
  const failed = parts.map(failureOf).find((found) => found !== undefined);
  return failed && { jobId: failed.job_id, attempt: failed.attempt, verdict: failed.verdict };
}

// Returns equal texts for restarts of one job after equal failures, regardless of the rank.
function loopKey(item: EventItem): string | undefined {
  const failure = failureIn(item);
  if (!failure?.verdict) return undefined;
  const { cause, exit_code: code, signal, error_line: line } = failure.verdict;
  return `${failure.jobId}/${cause}/${code}/${signal}/${line}`;
}

const FEWEST_RESTARTS = 3;

function loopOf(restarts: readonly EventItem[]): EventItem[] {
  if (restarts.length < FEWEST_RESTARTS) return [...restarts];
  const newest = restarts[0] as EventItem;
  const oldest = failureIn(restarts.at(-1) as EventItem)?.attempt ?? 0;
  const amount = `${restarts.length} equal failures since attempt ${oldest}`;
  const text = `${amount}; newest: ${newest.described.text}`;
  const parts = restarts.flatMap((one) => one.parts);
  return [{ ...newest, described: { ...newest.described, text }, parts }];
}

// Joins equal restarts that follow each other.
function withLoops(items: readonly EventItem[]): EventItem[] {
  const runs: EventItem[][] = [];
  for (const item of items) {
    const run = runs.at(-1);
    const key = loopKey(item);
    if (run && key !== undefined && key === loopKey(run[0] as EventItem)) run.push(item);
    else runs.push([item]);
  }
  return runs.flatMap(loopOf);
}

// `lines`: newest first. Each line is in one item. A group has the position of its newest line.
export function groupLines(lines: readonly EventLine[]): EventItem[] {
  const grouping = new Grouping(lines);
  const groups = new Map<string, EventLine[]>();
  for (const line of lines) {
    const key = grouping.keyOf(line);
    const group = groups.get(key);
    if (group) group.push(line);
    else groups.set(key, [line]);
  }
  const items = [...groups].flatMap(([key, group]) => itemsOf(key, group));
  return withLoops(items.sort((a, b) => b.newest.sequence - a.newest.sequence));
}
