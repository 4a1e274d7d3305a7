import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EventStream } from './stream';

// A browser tab whose visibility tests set.
class Tab {
  visibilityState = 'visible';
  private listener = () => {};
  addEventListener(_: string, listener: () => void): void {
    this.listener = listener;
  }
  turn(state: 'visible' | 'hidden'): void {
    this.visibilityState = state;
    this.listener();
  }
}

// A stream connection that tests can close.
class Source {
  static all: Source[] = [];
  private controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  answer: (status: number) => void = () => {};
  fail: () => void = () => {};
  readonly response = new Promise<Response>((resolve, reject) => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.controller = controller;
      },
    });
    this.answer = (status) => resolve(new Response(status === 200 ? body : '', { status }));
    this.fail = () => reject(new TypeError('no connection'));
  });
  constructor(
    readonly url: string,
    readonly signal: AbortSignal,
  ) {
    Source.all.push(this);
  }
  get closed(): boolean {
    return this.signal.aborted;
  }
  send(text: string): void {
    this.controller?.enqueue(new TextEncoder().encode(text));
  }
  end(): void {
    this.controller?.close();
  }
}

const openOnes = () => Source.all.filter(({ closed }) => !closed).length;
// Advances the fake clock and lets pending promises settle.
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('the stream of a tab', () => {
  let tab: Tab;
  let calls: string[];
  const make = (state: 'visible' | 'hidden') => {
    tab.visibilityState = state;
    return new EventStream({
      onEvent: (kind, _, id) => calls.push(`${kind} ${id}`),
      onConnected: () => calls.push('connected'),
      onLost: () => calls.push('lost'),
    });
  };

  beforeEach(() => {
    vi.useFakeTimers();
    tab = new Tab();
    calls = [];
    Source.all = [];
    vi.stubGlobal('document', tab);
    vi.stubGlobal('localStorage', { getItem: () => null, removeItem: () => {} });
    vi.stubGlobal('fetch', (url: string, { signal }: { signal: AbortSignal }) => {
      return new Source(url, signal).response;
    });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('takes no connection in a tab that was opened in the background', async () => {
    const stream = make('hidden');
    stream.listen(['jobs']);
    await pass(60_000);
    expect(Source.all).toEqual([]);
    tab.turn('visible');
    expect(openOnes()).toBe(1);
    // Data stored between the first requests and now may have been missed.
    expect(stream.takeInterrupted()).toBe(true);
  });

  it('gives it back two seconds after the tab is hidden, and is not live any more', async () => {
    make('visible').listen(['jobs']);
    await pass(100);
    Source.all[0]?.answer(200);
    await pass(0);
    tab.turn('hidden');
    await pass(1_900);
    expect(openOnes()).toBe(1);
    await pass(200);
    expect(openOnes()).toBe(0);
    expect(calls).toEqual(['connected', 'lost']);
    tab.turn('visible');
    expect(openOnes()).toBe(1);
  });

  it('keeps it while the tab is only passed', async () => {
    make('visible').listen(['jobs']);
    await pass(100);
    tab.turn('hidden');
    await pass(500);
    tab.turn('visible');
    await pass(10_000);
    expect(Source.all.length).toBe(1);
    expect(calls).toEqual([]);
  });

  it('does not reconnect in a hidden tab', async () => {
    make('visible').listen(['jobs']);
    await pass(100);
    tab.turn('hidden');
    Source.all[0]?.fail();
    await pass(60_000);
    expect(Source.all.length).toBe(1);
  });

  it('delivers events and resumes after the newest one when the connection ends', async () => {
    make('visible').listen(['jobs']);
    await pass(100);
    Source.all[0]?.answer(200);
    Source.all[0]?.send('event: hello\nid: 6\ndata: {}\n\nevent: jobs\nid: 7\nda');
    Source.all[0]?.send('ta: {}\n\n: alive\n\nevent: unknown\nid: 9\ndata: {}\n\n');
    await pass(0);
    expect(calls.filter((word) => word !== 'connected')).toEqual(['hello 6', 'jobs 7']);
    Source.all[0]?.end();
    await pass(0);
    expect(calls.at(-1)).toBe('lost');
    await pass(1_000);
    expect(Source.all[1]?.url).toContain('last_event_id=7');
  });

  it('drops a connection that brings no byte, and keeps one that brings comments', async () => {
    make('visible').listen(['jobs']);
    await pass(100);
    Source.all[0]?.answer(200);
    for (let second = 0; second < 60; second += 15) {
      await pass(15_000);
      Source.all[0]?.send(': alive\n\n');
    }
    expect(Source.all.length).toBe(1);
    await pass(30_000);
    expect(calls.at(-1)).toBe('lost');
    expect(Source.all.length).toBe(2);
  });

  it('tries again after an answer that is no stream, until it is stopped', async () => {
    const stream = make('visible');
    stream.listen(['jobs']);
    await pass(100);
    Source.all[0]?.answer(503);
    await pass(1_100);
    expect(Source.all.length).toBe(2);
    stream.stop();
    Source.all[1]?.answer(200);
    await pass(60_000);
    expect(Source.all.length).toBe(2);
    expect(openOnes()).toBe(0);
    expect(calls).not.toContain('connected');
  });
});
