// The tab's only server-sent stream. Connects, resumes, and reports lost connections. Uses fetch,
// because EventSource cannot send headers.
import { openStream } from './client';
import { EventParser, type ServerEvent } from './event_parser';

const RETRY_MS = 1_000;
const SETTLE_MS = 30;
// A connection without data for this long is considered lost. The controller sends a comment at
// least every 15 s.
const STREAM_TIMEOUT_MS = 20_000;
// A tab hidden for this long closes its connection, because a browser allows only six connections
// per address in all its tabs. A user who switches through tabs hides each tab for a shorter time.
const HIDDEN_MS = 2_000;

const KINDS = ['hello', 'jobs', 'job', 'nodes', 'events', 'metrics', 'logs'] as const;
export type StreamKind = (typeof KINDS)[number];

export interface StreamListener {
  onEvent(kind: StreamKind, data: unknown, id: number): void;
  onConnected(): void;
  // Called when the connection breaks or is closed because the tab is hidden.
  onLost(): void;
}

const isHidden = () => document.visibilityState === 'hidden';

export class EventStream {
  // Aborts the connection.
  private connection: AbortController | undefined;
  private topics: readonly string[] = [];
  // Time of the newest byte received or, before the first byte, of the request.
  private receivedAt = 0;
  private lastId = 0;
  private interrupted = false;
  private stopped = false;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private hide: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly listener: StreamListener) {
    document.addEventListener('visibilitychange', () => this.onVisibility());
    setInterval(() => this.dropTimedOut(), STREAM_TIMEOUT_MS / 4);
  }

  // Opens the stream, or reopens it with other topics. Two changes of the topics in quick
  // succession, as when the user switches to another job, open only one connection.
  listen(topics: readonly string[]): void {
    if (topics.join() === this.topics.join()) return;
    this.topics = topics;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.open(), SETTLE_MS);
  }

  // Opens the stream unless listen() has set topics before.
  listenIfClosed(topics: readonly string[]): void {
    if (this.topics.length === 0) this.listen(topics);
  }

  // True if the connection was lost since the last call. Updates about data that the stream does
  // not contain may then have been missed.
  takeInterrupted(): boolean {
    const was = this.interrupted;
    this.interrupted = false;
    return was;
  }

  // Makes the next connection request the whole state, not only the changes.
  requestSnapshot(): void {
    this.lastId = 0;
  }

  // Closes the stream for good.
  stop(): void {
    this.stopped = true;
    this.close();
  }

  private open(): void {
    this.close();
    if (this.stopped) return;
    if (isHidden()) {
      // onVisibility() reopens the stream. Until then, the page's data is stale.
      this.interrupted = true;
      return;
    }
    const connection = new AbortController();
    this.connection = connection;
    this.receivedAt = Date.now();
    this.read(connection).then(
      () => this.lost(connection),
      () => this.lost(connection),
    );
  }

  private close(): void {
    clearTimeout(this.retry);
    this.connection?.abort();
    this.connection = undefined;
  }

  // Delivers events until the connection ends.
  private async read(connection: AbortController): Promise<void> {
    const last = this.lastId > 0 ? this.lastId : undefined;
    const query = { topics: this.topics.join(','), last_event_id: last };
    const response = await openStream(query, connection.signal);
    const reader = response.body?.getReader();
    if (!reader) return;
    const decoder = new TextDecoder();
    const parser = new EventParser();
    while (this.connection === connection) {
      this.received();
      const { done, value } = await reader.read();
      if (done || this.connection !== connection) return;
      for (const event of parser.push(decoder.decode(value, { stream: true }))) {
        // Checked for each event, because handling an event may reopen the stream.
        if (this.connection === connection) this.deliver(event);
      }
    }
  }

  private deliver({ kind, data, id }: ServerEvent): void {
    const known = KINDS.find((name) => name === kind);
    if (!known) return;
    const number = Number(id) || 0;
    if (number > this.lastId) this.lastId = number;
    try {
      this.listener.onEvent(known, JSON.parse(data), number);
    } catch (error) {
      // Does not reconnect, because the error comes from a view, not from the connection.
      reportError(error);
    }
  }

  private received(): void {
    this.receivedAt = Date.now();
    this.listener.onConnected();
  }

  private lost(connection: AbortController): void {
    if (this.connection !== connection) return;
    this.disconnect();
    if (!this.stopped) this.retry = setTimeout(() => this.open(), RETRY_MS);
  }

  private disconnect(): void {
    this.interrupted = true;
    this.close();
    this.listener.onLost();
  }

  private dropTimedOut(): void {
    const { connection } = this;
    if (connection && Date.now() - this.receivedAt > STREAM_TIMEOUT_MS) this.lost(connection);
  }

  private onVisibility(): void {
    clearTimeout(this.hide);
    if (isHidden()) {
      this.hide = setTimeout(() => this.disconnect(), HIDDEN_MS);
    } else if (!this.connection && this.topics.length > 0) {
      this.open();
    }
  }
}
