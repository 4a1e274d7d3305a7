// The state of the cluster as received over the stream. A pure reducer computes the state: the same
// events always give the same state.
import { foldEvents, type EventLine } from '../events/fold_events';
import type {
  EventEntry,
  GetJobResponse,
  Job,
  JobsChanged,
  Node,
  NodesChanged,
  PendingReason,
  StreamHello,
} from './types';

export const EVENTS_KEPT = 200;
// Maximum number of ended jobs in the state. The jobs page requests older jobs from the controller.
export const ENDED_JOBS_KEPT = 500;

export interface Live {
  // undefined before the first snapshot. An empty map means that there are no jobs.
  jobs: ReadonlyMap<number, Job> | undefined;
  nodes: ReadonlyMap<string, Node> | undefined;
  pending: ReadonlyMap<number, PendingReason>;
  // Jobs deleted while this page was open. Lists and pages loaded earlier may contain these jobs.
  deleted: ReadonlySet<number>;
  // Number of queued jobs in the cluster. `jobs` may contain only the head of the queue.
  waiting: number;
  placed: number;
  // Newest first, as lists show them.
  events: readonly EventLine[] | undefined;
  clusterId: string;
  version: string;
  // The state includes all changes up to this store revision. A new connection resumes from here.
  revision: number;
}

export const EMPTY_LIVE_STATE: Live = {
  jobs: undefined,
  nodes: undefined,
  pending: new Map(),
  deleted: new Set(),
  waiting: 0,
  placed: 0,
  events: undefined,
  clusterId: '',
  version: '',
  revision: 0,
};

export type LiveEvent =
  | { kind: 'hello'; data: StreamHello }
  | { kind: 'jobs'; data: JobsChanged }
  | { kind: 'nodes'; data: NodesChanged }
  | { kind: 'events'; data: { events: EventEntry[] } };

// `id`: the revision sent with the event; 0 if the event had none.
export function reduceLive(live: Live, event: LiveEvent, id = 0): Live {
  const revision = Math.max(live.revision, id);
  switch (event.kind) {
    case 'hello':
      return afterHello(live, event.data);
    case 'jobs':
      return { ...live, ...afterJobs(live, event.data), revision };
    case 'nodes':
      return { ...live, nodes: afterNodes(live, event.data), revision };
    case 'events':
      return { ...live, events: mergeEvents(live.events ?? [], event.data.events), revision };
  }
}

// If another cluster answers at the same address, drops the state, because ids in that cluster
// belong to other jobs.
function afterHello(live: Live, hello: StreamHello): Live {
  const same = live.clusterId === '' || live.clusterId === hello.cluster_id;
  const base = same ? live : EMPTY_LIVE_STATE;
  return { ...base, clusterId: hello.cluster_id, version: hello.version };
}

export function hasEnded(job: Pick<Job, 'state'>): boolean {
  return job.state === 'succeeded' || job.state === 'failed' || job.state === 'stopped';
}

function afterJobs(
  live: Live,
  change: JobsChanged,
): Pick<Live, 'jobs' | 'pending' | 'deleted' | 'waiting' | 'placed'> {
  const jobs = new Map(change.snapshot ? [] : live.jobs);
  const pending = new Map(change.snapshot ? [] : live.pending);
  for (const job of change.jobs) {
    jobs.set(job.id, job);
    pending.delete(job.id);
  }
  // Includes jobs that have not changed, because a job's pending reason depends on other jobs.
  for (const [id, reason] of Object.entries(change.pending)) {
    if (jobs.has(Number(id))) pending.set(Number(id), reason);
  }
  for (const id of change.removed) {
    jobs.delete(id);
    pending.delete(id);
  }
  dropOldest(jobs);
  const { waiting, placed, removed } = change;
  const deleted = removed.length > 0 ? new Set([...live.deleted, ...removed]) : live.deleted;
  return { jobs, pending, deleted, waiting, placed };
}

function dropOldest(jobs: Map<number, Job>): void {
  const ended = [...jobs.values()].filter(hasEnded);
  if (ended.length <= ENDED_JOBS_KEPT) return;
  ended.sort((a, b) => b.ended_time_ms - a.ended_time_ms);
  for (const job of ended.slice(ENDED_JOBS_KEPT)) jobs.delete(job.id);
}

function afterNodes(live: Live, change: NodesChanged): ReadonlyMap<string, Node> {
  const nodes = new Map(change.snapshot ? [] : live.nodes);
  for (const node of change.nodes) nodes.set(node.id, node);
  for (const id of change.removed) nodes.delete(id);
  return nodes;
}

// Merges events, newest first. Keeps each event once, because a resumed stream repeats events.
// Folds events before applying the limit, because otherwise the starts of a thousand ranks would
// evict all other events.
export function mergeEvents(
  held: readonly EventLine[],
  arrived: readonly EventEntry[],
): readonly EventLine[] {
  return foldEvents([...held, ...arrived]).slice(0, EVENTS_KEPT);
}

// Adds to an update of the open job the parts that the stream omits. The parts are the job's
// history, which the page requested once, and the progress of a job that ended before the
// controller started.
export function withHistory(
  update: GetJobResponse,
  held: GetJobResponse | undefined,
): GetJobResponse {
  if (held?.job?.id !== update.job?.id || !held) return update;
  const progress = update.job?.progress ?? held.job?.progress;
  const job = update.job && { ...update.job, ...(progress ? { progress } : {}) };
  return { ...update, job, events: held.events, alerts: held.alerts };
}

// Merges a response about the open job with the stream, because the stream may be newer but does
// not repeat a job's last update. The history comes from the response, the state from the newer of
// the two.
export function withNewerState(
  answer: GetJobResponse,
  held: GetJobResponse | undefined,
): GetJobResponse {
  if (held?.job?.id !== answer.job?.id || !held || held.revision <= answer.revision) return answer;
  return { ...held, events: answer.events, alerts: answer.alerts };
}

// Adds the alerts about the open job from the new events, each alert once.
export function withNewAlerts(
  open: GetJobResponse,
  arrived: readonly EventEntry[],
): GetJobResponse {
  const known = new Set(open.alerts.map(({ sequence }) => sequence));
  const added = arrived.flatMap(({ sequence, event }) => {
    const alert = event?.alert_raised;
    if (!event || alert?.job_id !== open.job?.id || !alert || known.has(sequence)) return [];
    const { attempt, step, code, message } = alert;
    return [{ sequence, time_ms: event.time_ms, attempt, step, code, message }];
  });
  return added.length === 0 ? open : { ...open, alerts: [...open.alerts, ...added] };
}
