import { describe, expect, it } from 'vitest';
import type { DeviceHistory } from '../api/types';
import { deviceCharts, deviceMarks } from './device_charts';

const MINUTE = 60_000;
const NOW = 1_000 * MINUTE;

const device = (change: Partial<DeviceHistory> = {}): DeviceHistory => ({
  slot: 0,
  uuid: 'GPU-0',
  model: 'NVIDIA H200',
  error: '',
  last_xid: 0,
  interval_ms: MINUTE,
  time_ms: [NOW - 2 * MINUTE, NOW],
  utilization_percent: [97, 50],
  memory_mib: [1024, 2048],
  temperature_celsius: [-1, -1],
  power_watts: [700, 0],
  throttled_percent: [0, 0],
  ecc_uncorrected: [0, 0],
  ...change,
});

describe('deviceCharts', () => {
  const shown = { hours: 1, nowMs: NOW + 20_000 };
  const slot = { memory_bytes: 8 * 2 ** 30 };
  const charts = (change?: Partial<DeviceHistory>) => deviceCharts(device(change), slot, shown);

  it('have one value per minute of the window, with gaps', () => {
    const [load] = charts();
    expect(load?.values).toHaveLength(60);
    expect(load?.values.slice(-4)).toEqual([NaN, 97, NaN, 50]);
    expect(load).toMatchObject({ newest: '50 %', highest: '97 %', range: [0, 100] });
  });

  it('reach from zero to the memory of the GPU, or to the highest value', () => {
    const [, memory, , power] = charts();
    expect(memory).toMatchObject({ newest: '2.0 GiB', highest: '2.0 GiB', range: [0, 8192] });
    expect(power).toMatchObject({ newest: '0 W', highest: '700 W', range: [0, 700] });
  });

  it('have no value that the GPU does not report', () => {
    expect(charts()[2]).toMatchObject({ newest: '—', highest: '—' });
    expect(charts({ time_ms: [], utilization_percent: [] })[0]?.newest).toBe('—');
  });

  it('leave out readings before the window', () => {
    const old = charts({ time_ms: [NOW - 61 * MINUTE], utilization_percent: [5] });
    expect(old[0]?.newest).toBe('—');
  });
});

describe('deviceMarks', () => {
  const texts = (change: Partial<DeviceHistory>) =>
    deviceMarks(device(change), NOW + 3 * MINUTE).map(({ text, tone }) => `${tone} ${text}`);

  it('are the errors and the newest slowdown', () => {
    expect(texts({})).toEqual([]);
    expect(
      texts({
        error: 'GPU is lost',
        last_xid: 79,
        ecc_uncorrected: [1, 2],
        throttled_percent: [40, 0],
      }),
    ).toEqual([
      'bad GPU is lost',
      'bad XID 79',
      'bad 2 uncorrected ECC errors',
      'warn throttled 5m ago',
    ]);
  });

  it('leave out what the GPU does not report', () => {
    expect(texts({ ecc_uncorrected: [-1, -1], throttled_percent: [-1, -1] })).toEqual([]);
    expect(texts({ ecc_uncorrected: [3, -1] })).toEqual(['bad 3 uncorrected ECC errors']);
  });
});
