// Sends one request at a time per view. A request repeated while it is in flight is sent again
// after the response. If the repetition replaced the first request, a response slower than the
// repetition interval would never be used. Does not use the DOM.

type Send = (signal: AbortSignal) => Promise<unknown>;

export class SingleFlight {
  private flight: { key: string; abort: AbortController } | undefined;
  private again: Send | undefined;

  // If a request with another `key` is in flight, aborts it. If a request with the same `key` is in
  // flight, repeats it after the response. `send` must never reject.
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
