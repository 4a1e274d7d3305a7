// Sends one request at a time per view. If a request is repeated while it is in flight, the
// repetition is sent after the response. If it were sent at once, a response that takes longer than
// the repetition interval would never be used. Does not use the DOM.

type Send = (signal: AbortSignal) => Promise<unknown>;

export class SingleFlight {
  private flight: { key: string; abort: AbortController } | undefined;
  private again: Send | undefined;

  // `send` must never reject. If `key` differs from that of the request in flight, that request is
  // aborted. If it is the same, the request is repeated after the response.
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
