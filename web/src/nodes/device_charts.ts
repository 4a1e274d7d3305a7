// The charts and marks of a GPU, from its history. Pure functions.
import type { DeviceHistory, Slot } from '../api/types';
import type { Range } from '../chart/sparkline';
import { ABSENT, bytes, plural } from '../format/numbers';
import { ago } from '../format/time';

const HOUR_MS = 3_600_000;
const MIB = 2 ** 20;

export interface DeviceChart {
  name: string;
  // One value per interval of the window; NaN where there is no reading.
  values: number[];
  range: Range;
  newest: string;
  highest: string;
}

export interface DeviceMark {
  text: string;
  tone: 'bad' | 'warn';
}

type Readings = Pick<DeviceHistory, 'time_ms' | 'interval_ms'>;

export interface Window {
  hours: number;
  nowMs: number;
}

// Returns one value per interval of the whole window: the reading, or NaN if there is none.
function overWindow(
  { time_ms: times, interval_ms: interval }: Readings,
  values: readonly number[],
  { hours, nowMs }: Window,
): number[] {
  const last = Math.floor(nowMs / interval);
  const placed = new Array<number>(Math.ceil((hours * HOUR_MS) / interval)).fill(NaN);
  times.forEach((time, index) => {
    const at = placed.length - 1 - (last - Math.floor(time / interval));
    const value = values[index] ?? -1;
    if (at >= 0 && at < placed.length && value >= 0) placed[at] = value;
  });
  return placed;
}

const QUANTITIES = [
  { name: 'Utilization', of: 'utilization_percent', text: (v: number) => `${v} %`, top: 100 },
  { name: 'Memory', of: 'memory_mib', text: (v: number) => bytes(v * MIB), top: 0 },
  { name: 'Temperature', of: 'temperature_celsius', text: (v: number) => `${v} °C`, top: 100 },
  { name: 'Power', of: 'power_watts', text: (v: number) => `${v} W`, top: 0 },
] as const;

export const CHART_NAMES = QUANTITIES.map(({ name }) => name);

// Returns one chart per name in CHART_NAMES.
export function deviceCharts(
  device: DeviceHistory,
  { memory_bytes: memory }: Pick<Slot, 'memory_bytes'>,
  shown: Window,
): DeviceChart[] {
  return QUANTITIES.map(({ name, of, text, top }) => {
    const values = overWindow(device, device[of], shown);
    const known = values.filter((value) => !Number.isNaN(value));
    const most = Math.max(0, ...known);
    const newest = known.at(-1);
    const limit = of === 'memory_mib' ? memory / MIB : top;
    return {
      name,
      values,
      range: [0, Math.max(limit, most, 1)],
      newest: newest === undefined ? ABSENT : text(newest),
      highest: known.length > 0 ? text(most) : ABSENT,
    };
  });
}

// Returns the errors and slowdowns of a GPU in the window, the worst first.
export function deviceMarks(device: DeviceHistory, nowMs: number): DeviceMark[] {
  const marks: DeviceMark[] = [];
  if (device.error) marks.push({ text: device.error, tone: 'bad' });
  if (device.last_xid > 0) marks.push({ text: `XID ${device.last_xid}`, tone: 'bad' });
  const errors = device.ecc_uncorrected.findLast((amount) => amount >= 0) ?? 0;
  if (errors > 0) marks.push({ text: plural(errors, 'uncorrected ECC error'), tone: 'bad' });
  const slowed = device.throttled_percent.findLastIndex((share) => share > 0);
  const time = device.time_ms[slowed];
  if (time !== undefined) marks.push({ text: `throttled ${ago(time, nowMs)}`, tone: 'warn' });
  return marks;
}
