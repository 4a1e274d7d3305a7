// The state of the cluster as received by this tab, in signals that components read.
import { computed, effect, signal } from '@preact/signals';
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
import { refusal } from './session';
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
// Maximum time that a job's page waits before it opens the stream. The page waits because the first
// snapshot describes the whole cluster.
const STREAM_SETTLE_MS = 3_000;

// The number of event lines on the overview, and the maximum number of event pages requested to
// fill these lines.
const RECENT_LINES = 14;
const RECENT_PAGES = 4;
const RECENT_RETRY_MS = 3_000;

export const live = signal<Live>(EMPTY_LIVE_STATE);
export const jobNames = signal<Readonly<Record<string, string>>>({});
export const capabilities = signal<readonly string[]>([]);
// Port that workers connect to; 0 until received from the controller.
export const grpcPort = signal(0);
// Revision of openJob while it has only the fields that lists contain.
export const LISTED = -1;
export const openJob = signal<GetJobResponse | undefined>(undefined);
// Counters that increase when the controller has new points or output lines of the open job.
export const metricsTick = signal(0);
export const logsTick = signal(0);

export const connected = signal(false);
// Number of reconnects to the controller. After each reconnect, views repeat failed requests.
export const reconnects = signal(0);
// Number of times that a different cluster answered at this address. Each time, a job's page
// reloads its data.
export const otherClusters = signal(0);
// Time of the last message from the controller; 0 before the first one.
export const receivedAt = signal(0);
// True while the connection to the controller is lost. Pages are gray then and offer no actions.
export const stale = computed(() => !connected.value && receivedAt.value > 0);
// The browser's time, updated once per second. Ages are computed from this time. A hidden tab does
// not update the time, so all periodic requests pause, too.
export const clock = signal(Date.now());
// The controller's clock minus the browser's clock. Ages need the controller's clock, because all
// times come from the controller.
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
  const waits = (job: Job) => !hasEnded(job) && !holdsSlots(job) && !isPaused(job);
  return jobList.value?.filter(waits).sort((a, b) => place(a) - place(b) || a.id - b.id);
});
// Jobs that a user has paused or held.
export const pausedJobs = computed(() => jobList.value?.filter(isPaused));
export const nodeList = computed(() => {
  const nodes = live.value.nodes;
  const byName = new Intl.Collator('en', { numeric: true });
  return nodes && [...nodes.values()].sort((a, b) => byName.compare(a.name, b.name));
});

function isPaused(job: Job): boolean {
  return ['paused', 'held'].includes(job.state);
}

export function holdsSlots(job: Job): boolean {
  return ['starting', 'running', 'stopping', 'pausing'].includes(job.state);
}

// Finds the node's name even if the stream no longer contains the node.
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
    // Points that were stored between the response and the stream's first event have not increased
    // the counter yet.
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
    stream?.requestSnapshot();
  }
  if (!resumed || live.value.events === undefined) void loadRecent();
  // After an interruption, the job is reloaded, because updates about its points and log lines may
  // have been missed.
  if (stream?.takeInterrupted()) void refreshJob();
}

// Loads the newest events until they fill the overview's lines. Several pages may be needed,
// because a starting gang causes a thousand events that fold into one line.
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

// Loads data that the stream does not contain: events from before this page was opened, job names,
// and the controller's capabilities.
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
    // Retries only while the stream is connected. After a reconnect, the stream delivers hello,
    // which loads this data again.
    setTimeout(() => connected.value && void loadRecent(), RECENT_RETRY_MS);
  }
}

let stream: EventStream | undefined;
let openJobId: number | undefined;

// `later`: true if a job's page is open. That page opens the stream after its first content has
// arrived.
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
  // Stops the stream if access is refused. A new login reloads the page, which opens the stream
  // again.
  effect(() => {
    if (refusal.value) stream?.stop();
  });
  const tick = () => {
    if (document.visibilityState !== 'hidden') clock.value = Date.now();
  };
  setInterval(tick, 1_000);
  document.addEventListener('visibilitychange', tick);
  if (!later) stream.listen(BASE_TOPICS);
  else setTimeout(() => stream?.listenIfClosed(BASE_TOPICS), STREAM_SETTLE_MS);
}

// Returns the fields of a job that the lists contain. The job's page shows these fields until the
// response arrives.
function asListed(id: number): GetJobResponse | undefined {
  const { jobs, pending } = live.peek();
  const job = jobs?.get(id);
  if (!job) return undefined;
  const rest = { events: [], node_names: {}, alerts: [], revision: LISTED, as_of_ms: 0 };
  return { job, pending: pending.get(id), ...rest };
}

// Number of calls of follow(). The response to any call but the newest is ignored.
let followed = 0;

// Follows one job; undefined: none. If `reference` is a name, the name is resolved first, because
// the stream needs the job's number.
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
    // Keeps the old data. The connection badge shows the data's age.
  }
}
