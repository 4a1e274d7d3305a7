// One request at a time per view. If a request is repeated while it is in flight, the repetition
// waits for the response. Otherwise a response slower than the repetition interval would never be
// received. Needs no document.

type Send = (signal: AbortSignal) => Promise<unknown>;

export class SingleFlight {
  private flight: { key: string; abort: AbortController } | undefined;
  private again: Send | undefined;

  // `send` never rejects. A different key aborts the request in flight. The same key repeats the
  // request after the response.
  ask(key: string, send: Send): void {
    if (this.flight?.key === key) {
      this.again = send;
      return;
    }
    this.cancel();
    const flight = { key, abort: new AbortController() };
    this.flight = flight;
    void send(flight.abort.signal).then(() => {
      if (this.flight !== flight) return;
      this.flight = undefined;
      const again = this.again;
      this.again = undefined;
      if (again) this.ask(key, again);
    });
  }

  get busy(): boolean {
    return this.flight !== undefined;
  }

  cancel(): void {
    this.flight?.abort.abort();
    this.flight = undefined;
    this.again = undefined;
  }
}
