import { describe, expect, it } from 'vitest';
import { SingleFlight } from './single_flight';

describe('SingleFlight', () => {
  const begun: { signal: AbortSignal; arrive: () => void }[] = [];
  const send = (signal: AbortSignal) =>
    new Promise<void>((resolve) => begun.push({ signal, arrive: resolve }));
  const arrive = async (index: number) => {
    begun[index]?.arrive();
    await Promise.resolve();
    await Promise.resolve();
  };

  it('lets a slow answer arrive however often it is asked, then asks once more', async () => {
    begun.length = 0;
    const one = new SingleFlight();
    for (let tick = 0; tick < 5; tick++) one.ask('a', send);
    expect(begun.length).toBe(1);
    expect(begun[0]?.signal.aborted).toBe(false);
    await arrive(0);
    expect(begun.length).toBe(2);
    await arrive(1);
    expect(begun.length).toBe(2);
    one.ask('a', send);
    expect(begun.length).toBe(3);
  });

  it('calls off what another question replaces', async () => {
    begun.length = 0;
    const one = new SingleFlight();
    one.ask('a', send);
    one.ask('a', send);
    one.ask('b', send);
    expect(begun.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    await arrive(0);
    expect(begun.length).toBe(2);
    one.cancel();
    expect(begun[1]?.signal.aborted).toBe(true);
    await arrive(1);
    expect(begun.length).toBe(2);
  });
});
