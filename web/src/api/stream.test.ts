import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EventStream } from './stream';

// A tab whose visibility the tests set.
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

class Source {
  static all: Source[] = [];
  onopen = () => {};
  onerror = () => {};
  closed = false;
  constructor(readonly url: string) {
    Source.all.push(this);
  }
  addEventListener(): void {}
  close(): void {
    this.closed = true;
  }
}

const openOnes = () => Source.all.filter(({ closed }) => !closed).length;

describe('the stream of a tab', () => {
  let tab: Tab;
  let said: string[];
  const make = (state: 'visible' | 'hidden') => {
    tab.visibilityState = state;
    return new EventStream({
      onEvent: () => {},
      onConnected: () => said.push('connected'),
      onLost: () => said.push('lost'),
    });
  };

  beforeEach(() => {
    vi.useFakeTimers();
    tab = new Tab();
    said = [];
    Source.all = [];
    vi.stubGlobal('document', tab);
    vi.stubGlobal('EventSource', Source);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('takes no connection in a tab that was opened in the background', () => {
    const stream = make('hidden');
    stream.listen(['jobs']);
    vi.advanceTimersByTime(60_000);
    expect(Source.all).toEqual([]);
    tab.turn('visible');
    expect(openOnes()).toBe(1);
    // Data that came between the first requests and now was not received.
    expect(stream.takeInterrupted()).toBe(true);
  });

  it('gives it back two seconds after the tab is hidden, and is not live any more', () => {
    make('visible').listen(['jobs']);
    vi.advanceTimersByTime(100);
    Source.all[0]?.onopen();
    tab.turn('hidden');
    vi.advanceTimersByTime(1_900);
    expect(openOnes()).toBe(1);
    vi.advanceTimersByTime(200);
    expect(openOnes()).toBe(0);
    expect(said).toEqual(['connected', 'lost']);
    tab.turn('visible');
    expect(openOnes()).toBe(1);
  });

  it('keeps it while the tab is only passed', () => {
    make('visible').listen(['jobs']);
    vi.advanceTimersByTime(100);
    tab.turn('hidden');
    vi.advanceTimersByTime(500);
    tab.turn('visible');
    vi.advanceTimersByTime(60_000);
    expect(Source.all.length).toBe(1);
    expect(said).toEqual([]);
  });

  it('does not reconnect in a hidden tab', () => {
    make('visible').listen(['jobs']);
    vi.advanceTimersByTime(100);
    tab.turn('hidden');
    Source.all[0]?.onerror();
    vi.advanceTimersByTime(60_000);
    expect(Source.all.length).toBe(1);
  });
});
