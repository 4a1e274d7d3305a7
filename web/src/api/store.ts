// What the tab knows of the cluster, as signals that components read.
import { computed, signal } from '@preact/signals';
import { foldEvents } from '../events/fold_events';
import { getJson } from './client';
import {
  EMPTY_LIVE_STATE,
  hasEnded,
  reduceLive,
  withHistory,
  withNewerState,
  withNewAlerts,
  type Live,
  type LiveEvent,
} from './live';
import { EventStream, type StreamKind } from './stream';
import type {
  EventEntry,
  GetJobResponse,
  GetServerInfoResponse,
  Job,
  ListEventsResponse,
  ListNodesResponse,
  StreamHello,
} from './types';

const BASE_TOPICS = ['jobs', 'nodes', 'events'];
// How long a job's page may put off the stream, whose beginning is as large as the cluster.
const STREAM_SETTLE_MS = 3_000;

// What the overview shows of events, and how far to look for them.
const RECENT_LINES = 14;
const RECENT_PAGES = 4;
const RECENT_RETRY_MS = 3_000;

export const live = signal<Live>(EMPTY_LIVE_STATE);
export const jobNames = signal<Readonly<Record<string, string>>>({});
export const capabilities = signal<readonly string[]>([]);
// Port that workers connect to; 0 until the controller has told it.
export const grpcPort = signal(0);
// Of the job page that is open. Revision LISTED: only what lists say of it.
export const LISTED = -1;
export const openJob = signal<GetJobResponse | undefined>(undefined);
// Count up when the open job has new points or lines.
export const metricsTick = signal(0);
export const logsTick = signal(0);

export const connected = signal(false);
// Counts how often the controller came back: what failed meanwhile is tried again then.
export const reconnects = signal(0);
// Counts how often another cluster came to answer at this address: a job's page asks anew then.
export const otherClusters = signal(0);
// When the controller was last heard; 0 before the first time.
export const receivedAt = signal(0);
// By this browser's clock, once a second, for ages. It stands still while nobody sees the tab, and
// with it all that is asked again every few seconds.
export const clock = signal(Date.now());
// Controller's clock minus ours: ages are told by the clock that made the times.
const clockOffset = signal(0);
export const serverNow = computed(() => clock.value + clockOffset.value);

export const jobList = computed<Job[] | undefined>(() => {
  const jobs = live.value.jobs;
  return jobs && [...jobs.values()].sort((a, b) => b.id - a.id);
});
export const runningJobs = computed(() => jobList.value?.filter(holdsSlots));
export const waitingJobs = computed(() => {
  const { pending } = live.value;
  const place = (job: Job) => pending.get(job.id)?.queue_position || Number.MAX_SAFE_INTEGER;
  const waits = (job: Job) => !hasEnded(job) && !holdsSlots(job);
  return jobList.value?.filter(waits).sort((a, b) => place(a) - place(b) || a.id - b.id);
});
export const nodeList = computed(() => {
  const nodes = live.value.nodes;
  const byName = new Intl.Collator('en', { numeric: true });
  return nodes && [...nodes.values()].sort((a, b) => byName.compare(a.name, b.name));
});

export function holdsSlots(job: Job): boolean {
  return ['starting', 'running', 'stopping'].includes(job.state);
}

// Name of a node by id, also when the stream does not know it any more.
export function nodeName(id: string, names: Readonly<Record<string, string>> = {}): string {
  return live.value.nodes?.get(id)?.name ?? names[id] ?? id;
}

function setClock(data: unknown): void {
  const asOf = (data as { as_of_ms?: number } | null)?.as_of_ms;
  if (asOf) clockOffset.value = asOf - Date.now();
}

function onEvent(kind: StreamKind, data: unknown, id: number): void {
  setClock(data);
  if (kind === 'job') {
    const job = data as GetJobResponse;
    if (job.job?.id !== openJobId) return;
    // What was stored between the answer and the stream's beginning had no tick of its own.
    const step = job.job?.progress?.step;
    if (step !== undefined && step !== openJob.peek()?.job?.progress?.step) metricsTick.value++;
    openJob.value = withHistory(job, openJob.value);
  } else if (kind === 'metrics') {
    metricsTick.value++;
  } else if (kind === 'logs') {
    logsTick.value++;
  } else {
    const before = live.value;
    live.value = reduceLive(before, { kind, data } as LiveEvent, id);
    if (kind === 'events' && openJob.value) {
      openJob.value = withNewAlerts(openJob.value, (data as { events: EventEntry[] }).events);
    }
    if (kind === 'hello') afterHello(before, (data as StreamHello).resumed);
  }
}

function afterHello(before: Live, resumed: boolean): void {
  const { clusterId } = live.value;
  if (before.clusterId !== '' && before.clusterId !== clusterId) {
    openJob.value = undefined;
    openJobId = undefined;
    otherClusters.value++;
    stream?.forget();
  }
  if (!resumed || live.value.events === undefined) void loadRecent();
  // Points and lines are not part of the stream, so some may have been missed.
  if (stream?.takeInterrupted()) void refreshJob();
}

// The newest events, as far back as the overview needs: a gang that begins is a thousand events and
// one line.
async function recentEvents(): Promise<EventEntry[]> {
  const events: EventEntry[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < RECENT_PAGES; page++) {
    const limit = page === 0 ? 100 : 1_000;
    const answer = await getJson<ListEventsResponse>('/events', { limit, cursor });
    events.push(...answer.events);
    cursor = answer.next_cursor;
    if (cursor === '' || foldEvents(events).length >= RECENT_LINES) break;
  }
  return events;
}

// What a stream does not tell: events from before this page was opened, names, and what the
// controller can do.
async function loadRecent(): Promise<void> {
  try {
    const [recent, nodes, server] = await Promise.all([
      recentEvents(),
      getJson<ListNodesResponse>('/nodes', { fields: 'id' }),
      getJson<GetServerInfoResponse>('/server'),
    ]);
    live.value = reduceLive(live.value, { kind: 'events', data: { events: recent } });
    jobNames.value = nodes.job_names;
    capabilities.value = server.capabilities;
    grpcPort.value = server.grpc_port;
  } catch {
    // The stream says by itself that the controller is away, and says hello when it is back. A
    // request that failed beside a stream that goes on is made again.
    setTimeout(() => connected.value && void loadRecent(), RECENT_RETRY_MS);
  }
}

let stream: EventStream | undefined;
let openJobId: number | undefined;

// `later`: a job's page is opened, which listens once it has what it shows first.
export function connect(later: boolean): void {
  stream = new EventStream({
    onEvent,
    onConnected: () => {
      if (!connected.value && receivedAt.value > 0) reconnects.value++;
      connected.value = true;
      receivedAt.value = Date.now();
    },
    onLost: () => {
      connected.value = false;
    },
  });
  const tick = () => {
    if (document.visibilityState !== 'hidden') clock.value = Date.now();
  };
  setInterval(tick, 1_000);
  document.addEventListener('visibilitychange', tick);
  if (!later) stream.listen(BASE_TOPICS);
  else setTimeout(() => stream?.listenIfClosed(BASE_TOPICS), STREAM_SETTLE_MS);
}

// What the lists say of a job: enough to begin its page while the rest is on its way.
function asListed(id: number): GetJobResponse | undefined {
  const { jobs, pending } = live.peek();
  const job = jobs?.get(id);
  if (!job) return undefined;
  const rest = { events: [], node_names: {}, alerts: [], revision: LISTED, as_of_ms: 0 };
  return { job, pending: pending.get(id), ...rest };
}

// Counts the calls of follow(), so that an answer that comes late changes nothing.
let followed = 0;

// Follows one job closely, or none. `reference` may be a name; the stream wants the number.
export async function follow(reference: string | undefined): Promise<void> {
  const mine = ++followed;
  openJob.value = undefined;
  openJobId = undefined;
  if (reference === undefined) {
    stream?.listen(BASE_TOPICS);
    return;
  }
  openJob.value = asListed(Number(reference));
  const response = await getJson<GetJobResponse>(`/jobs/${encodeURIComponent(reference)}`).catch(
    (error: unknown) => {
      if (mine === followed) stream?.listenIfClosed(BASE_TOPICS);
      throw error;
    },
  );
  if (mine !== followed) return;
  const id = response.job?.id;
  openJobId = id;
  setClock(response);
  openJob.value = response;
  stream?.listen([...BASE_TOPICS, ...['job', 'metrics', 'logs'].map((topic) => `${topic}:${id}`)]);
}

export async function refreshJob(): Promise<void> {
  const id = openJobId;
  if (id === undefined) return;
  try {
    const response = await getJson<GetJobResponse>(`/jobs/${id}`);
    if (openJobId === id) openJob.value = withNewerState(response, openJob.peek());
    metricsTick.value++;
    logsTick.value++;
  } catch {
    // Kept as it was: the badge says how old it is.
  }
}
