// One request at a time for one view. What is asked again while its answer is on its way waits for
// that answer: an answer slower than the asking would never arrive otherwise. Pure of the page.

type Send = (signal: AbortSignal) => Promise<unknown>;

export class OneRequest {
  private flight: { key: string; abort: AbortController } | undefined;
  private again: Send | undefined;

  // `send` never rejects. Another key calls off what is on its way; the same one sends again, once,
  // when it is there.
  ask(key: string, send: Send): void {
    if (this.flight?.key === key) {
      this.again = send;
      return;
    }
    this.callOff();
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

  callOff(): void {
    this.flight?.abort.abort();
    this.flight = undefined;
    this.again = undefined;
  }
}
