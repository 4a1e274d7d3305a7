// The one server-sent stream of a tab: connects, resumes, says how old what we hold is.
import { apiPath } from './client';

const RETRY_MS = 1_000;
const SETTLE_MS = 30;
// The controller comments every 15 s, which a browser keeps to itself: silence is tested by asking.
const STREAM_TIMEOUT_MS = 12_000;
const PROBE_TIMEOUT_MS = 3_000;
// A hidden tab has no connection: browsers allow six to one address over all tabs. One that only
// goes through a hand, as when someone looks for another tab, keeps it.
const HIDDEN_MS = 2_000;

const KINDS = ['hello', 'jobs', 'job', 'nodes', 'events', 'metrics', 'logs'] as const;
export type StreamKind = (typeof KINDS)[number];

export interface StreamListener {
  onEvent(kind: StreamKind, data: unknown, id: number): void;
  onConnected(): void;
  // The connection broke, or was given back by a tab that nobody sees.
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
  // changes them twice in a moment, which costs one connection.
  listen(topics: readonly string[]): void {
    if (topics.join() === this.topics.join()) return;
    this.topics = topics;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.open(), SETTLE_MS);
  }

  // Only where nothing is listened to yet.
  listenIfClosed(topics: readonly string[]): void {
    if (this.topics.length === 0) this.listen(topics);
  }

  // Whether the connection was away since this was asked last: what is not part of the stream may
  // have been missed then.
  takeInterrupted(): boolean {
    const was = this.interrupted;
    this.interrupted = false;
    return was;
  }

  // The next connection asks for everything instead of what has changed.
  forget(): void {
    this.lastId = 0;
  }

  private open(): void {
    this.close();
    if (isHidden()) {
      // onVisibility() opens it. Until then the page grows old.
      this.interrupted = true;
      return;
    }
    const last = this.lastId > 0 ? this.lastId : undefined;
    const query = { topics: this.topics.join(','), last_event_id: last };
    const source = new EventSource(apiPath('/events/stream', query));
    this.source = source;
    source.onopen = () => this.heard();
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
    this.heard();
    const id = Number(event.lastEventId) || 0;
    if (id > this.lastId) this.lastId = id;
    this.listener.onEvent(kind, JSON.parse(event.data), id);
  }

  private heard(): void {
    this.receivedAt = Date.now();
    this.listener.onConnected();
  }

  // Browsers give up for good after some answers, so the retry is ours.
  private lost(): void {
    this.letGo();
    this.retry = setTimeout(() => this.open(), RETRY_MS);
  }

  private letGo(): void {
    this.interrupted = true;
    this.close();
    this.listener.onLost();
  }

  // A connection that died without a word looks like a quiet one.
  private async probe(): Promise<void> {
    if (!this.source || Date.now() - this.receivedAt < STREAM_TIMEOUT_MS) return;
    const source = this.source;
    try {
      const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
      const response = await fetch(apiPath('/server'), { signal });
      if (!response.ok) throw new Error(String(response.status));
      this.heard();
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
