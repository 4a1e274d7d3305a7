// The state of the cluster as this tab has received it, in signals that components read.
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
// Maximum delay before a job's page opens the stream. It is delayed because the first snapshot
// describes the whole cluster.
const STREAM_SETTLE_MS = 3_000;

// Number of event lines on the overview. It is also the maximum number of pages of events that are
// read to fill them.
const RECENT_LINES = 14;
const RECENT_PAGES = 4;
const RECENT_RETRY_MS = 3_000;

export const live = signal<Live>(EMPTY_LIVE_STATE);
export const jobNames = signal<Readonly<Record<string, string>>>({});
export const capabilities = signal<readonly string[]>([]);
// The port that workers connect to; 0 until the controller has sent it.
export const grpcPort = signal(0);
// openJob is the job of the open page. Its revision is LISTED if it has only the fields that lists
// contain.
export const LISTED = -1;
export const openJob = signal<GetJobResponse | undefined>(undefined);
// Counters, incremented when the controller has new points or new output lines of the open job.
export const metricsTick = signal(0);
export const logsTick = signal(0);

export const connected = signal(false);
// Number of reconnects to the controller. After each one, views repeat the requests that have
// failed.
export const reconnects = signal(0);
// Number of times that another cluster has answered at this address. After each time, a job's page
// loads its data again.
export const otherClusters = signal(0);
// Time at which the last message of the controller was received; 0 before the first message.
export const receivedAt = signal(0);
// True while the connection to the controller is lost. Pages are grey then and offer no actions.
export const stale = computed(() => !connected.value && receivedAt.value > 0);
// The browser's time, updated once per second. Ages are computed from it. While the tab is hidden,
// it is not updated, which also pauses all periodic requests.
export const clock = signal(Date.now());
// Controller's clock minus browser's clock. Ages are computed by the controller's clock, because
// the times come from it.
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

// Returns the name of a node by its id, even if the node is no longer in the stream.
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
    // Points that were stored between the response and the first event of the stream have not
    // incremented the counter yet.
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
  // Reloads the job if the stream was interrupted. The stream does not contain points and log
  // lines, so updates of them may have been missed.
  if (stream?.takeInterrupted()) void refreshJob();
}

// Loads the newest events until there are enough lines for the overview. The start of a gang causes
// a thousand events, which are folded into one line.
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

// Loads data that the stream does not contain: events from before this page was opened, names of
// jobs, and capabilities of the controller.
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
    // Retries a request that failed while the stream is connected. If the controller is
    // unavailable, no retry is needed: after the reconnect, the stream delivers hello, and this
    // data is loaded again.
    setTimeout(() => connected.value && void loadRecent(), RECENT_RETRY_MS);
  }
}

let stream: EventStream | undefined;
let openJobId: number | undefined;

// `later`: true if a job's page is open. That page opens the stream itself, after its first content
// has arrived.
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
  // Stops the stream if access is refused. A new login reloads the page.
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

// Returns the data that the lists have about a job. The job's page shows it while the response is
// in flight.
function asListed(id: number): GetJobResponse | undefined {
  const { jobs, pending } = live.peek();
  const job = jobs?.get(id);
  if (!job) return undefined;
  const rest = { events: [], node_names: {}, alerts: [], revision: LISTED, as_of_ms: 0 };
  return { job, pending: pending.get(id), ...rest };
}

// Number of calls of follow(). If a later call has been made, the response to an earlier one is
// ignored.
let followed = 0;

// Follows one job, or no job if `reference` is undefined. `reference` may be a name, but the stream
// needs the job's number.
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
    // Keeps the old data. The connection badge shows how old it is.
  }
}
