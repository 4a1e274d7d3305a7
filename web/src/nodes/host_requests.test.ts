import { expect, it } from 'vitest';
import { hostNote, requestedOn } from './host_requests';

const GIB = 2 ** 30;
const use = (job_id: number, requested_cpus: number, gib: number) => ({
  job_id,
  attempt: 1,
  rank: 0,
  unkillable: '',
  requested_cpus,
  requested_memory_bytes: gib * GIB,
});
const inventory = { slots: [], cpu_cores: 64, memory_bytes: 256 * GIB };

it('adds the requests of all ranks', () => {
  const slot_uses = [use(7, 8, 64), use(0, 0, 0), use(9, 4, 0)];
  expect(requestedOn({ slot_uses })).toEqual({ cpus: 12, memory: 64 * GIB });
});

it('shows cores, and requests if there are any', () => {
  expect(hostNote({ slot_uses: [use(7, 0, 0)], inventory })).toBe('64 CPU cores');
  expect(hostNote({ slot_uses: [use(7, 8, 64)], inventory })).toBe(
    '64 CPU cores; ranks request 8 cores, 64.0 GiB',
  );
  expect(hostNote({ slot_uses: [use(7, 0, 64)], inventory: { ...inventory, cpu_cores: 0 } })).toBe(
    'ranks request 64.0 GiB',
  );
  expect(hostNote({ slot_uses: [], inventory: { ...inventory, cpu_cores: 0 } })).toBeUndefined();
});
