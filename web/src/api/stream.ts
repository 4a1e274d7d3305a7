// The only server-sent stream of a tab: connects, resumes, and reports lost connections.
import { apiPath } from './client';

const RETRY_MS = 1_000;
const SETTLE_MS = 30;
// Time without an event after which a request probes the controller. The controller also sends a
// comment every 15 s, but browsers hide comments from scripts.
const STREAM_TIMEOUT_MS = 12_000;
const PROBE_TIMEOUT_MS = 3_000;
// A tab hidden for this long closes its connection: browsers allow six to one address over all
// tabs. A tab hidden for less time, as when a user switches through tabs, keeps its connection.
const HIDDEN_MS = 2_000;

const KINDS = ['hello', 'jobs', 'job', 'nodes', 'events', 'metrics', 'logs'] as const;
export type StreamKind = (typeof KINDS)[number];

export interface StreamListener {
  onEvent(kind: StreamKind, data: unknown, id: number): void;
  onConnected(): void;
  // The connection broke, or a hidden tab closed it.
  onLost(): void;
}

const isHidden = () => document.visibilityState === 'hidden';

export class EventStream {
  private source: EventSource | undefined;
  private topics: readonly string[] = [];
  private receivedAt = 0;
  private lastId = 0;
  private interrupted = false;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private hide: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly listener: StreamListener) {
    document.addEventListener('visibilitychange', () => this.onVisibility());
    setInterval(() => void this.probe(), STREAM_TIMEOUT_MS / 2);
  }

  // Opens the stream, or opens it anew when the topics differ. Going from one job to another
  // changes the topics twice in a moment, which costs only one connection.
  listen(topics: readonly string[]): void {
    if (topics.join() === this.topics.join()) return;
    this.topics = topics;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.open(), SETTLE_MS);
  }

  // Opens the stream only when no topics have been set before.
  listenIfClosed(topics: readonly string[]): void {
    if (this.topics.length === 0) this.listen(topics);
  }

  // True when the connection was lost since the last call: data that is not part of the stream may
  // have been missed.
  takeInterrupted(): boolean {
    const was = this.interrupted;
    this.interrupted = false;
    return was;
  }

  // Makes the next connection request the whole state instead of the changes.
  forget(): void {
    this.lastId = 0;
  }

  private open(): void {
    this.close();
    if (isHidden()) {
      // onVisibility() opens the stream. Until then the data of the page is stale.
      this.interrupted = true;
      return;
    }
    const last = this.lastId > 0 ? this.lastId : undefined;
    const query = { topics: this.topics.join(','), last_event_id: last };
    const source = new EventSource(apiPath('/events/stream', query));
    this.source = source;
    source.onopen = () => this.received();
    source.onerror = () => this.lost();
    for (const kind of KINDS) {
      source.addEventListener(kind, (event) => this.deliver(kind, event as MessageEvent<string>));
    }
  }

  private close(): void {
    clearTimeout(this.retry);
    this.source?.close();
    this.source = undefined;
  }

  private deliver(kind: StreamKind, event: MessageEvent<string>): void {
    this.received();
    const id = Number(event.lastEventId) || 0;
    if (id > this.lastId) this.lastId = id;
    this.listener.onEvent(kind, JSON.parse(event.data), id);
  }

  private received(): void {
    this.receivedAt = Date.now();
    this.listener.onConnected();
  }

  // Browsers stop reconnecting after some HTTP errors, so this class reconnects itself.
  private lost(): void {
    this.letGo();
    this.retry = setTimeout(() => this.open(), RETRY_MS);
  }

  private letGo(): void {
    this.interrupted = true;
    this.close();
    this.listener.onLost();
  }

  // Tests a connection that has delivered nothing lately: a dead connection looks like an idle one.
  private async probe(): Promise<void> {
    if (!this.source || Date.now() - this.receivedAt < STREAM_TIMEOUT_MS) return;
    const source = this.source;
    try {
      const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
      const response = await fetch(apiPath('/server'), { signal });
      if (!response.ok) throw new Error(String(response.status));
      this.received();
    } catch {
      if (this.source === source) this.lost();
    }
  }

  private onVisibility(): void {
    clearTimeout(this.hide);
    if (isHidden()) {
      this.hide = setTimeout(() => this.letGo(), HIDDEN_MS);
    } else if (!this.source && this.topics.length > 0) {
      this.open();
    }
  }
}
