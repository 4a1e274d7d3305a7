// Formats durations and times for people.
import { ABSENT, digitsOf } from './numbers';

const pad = (value: number) => String(value).padStart(2, '0');

// Formats with at most two units: "2d 4h", "3h 07m", "4m 12s", "8 s", "0.35 s".
export function duration(seconds: number | undefined): string {
  if (seconds === undefined || !Number.isFinite(seconds) || seconds < 0) return ABSENT;
  if (seconds < 0.9995) return seconds === 0 ? '0 s' : milliseconds(seconds);
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${pad(whole % 60)}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)}h ${pad(minutes % 60)}m`;
  const hours = Math.round(seconds / 3600);
  return `${Math.floor(hours / 24)}d ${pad(hours % 24)}h`;
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

// Reads a duration as the controller does, such as "1h30m"; undefined if the text is none.
export function durationMs(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  const parts = text.matchAll(/([\d.]+)([a-z]+)/g);
  return [...parts].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS],
    0,
  );
}

// Formats with three digits, for comparing short times: "55.7 s", "416 ms".
export function preciseSeconds(seconds: number | undefined): string {
  if (seconds === undefined || !Number.isFinite(seconds)) return ABSENT;
  return seconds >= 0.9995 && seconds < 999.5 ? `${seconds.toPrecision(3)} s` : duration(seconds);
}

// Formats the duration at a tick with enough digits to distinguish neighbors `step` seconds away.
export function durationTick(seconds: number, step: number): string {
  if (seconds === 0) return '0';
  if (seconds < 0) return `−${durationTick(-seconds, step)}`;
  if (seconds < 0.9995) return `${(seconds * 1000).toFixed(digitsOf(step * 1000))} ms`;
  if (seconds < 60) return `${seconds.toFixed(digitsOf(step))} s`;
  if (step >= 3600 && step % 3600 === 0) return duration(seconds);
  const whole = step >= 60 && step % 60 === 0;
  const digits = whole ? 0 : digitsOf(step);
  // Rounded first, so that 59.99 s does not become "0m 60s".
  const total = Number(seconds.toFixed(digits));
  const minutes = Math.floor(total / 60);
  const rest = (total - minutes * 60).toFixed(digits).padStart(digits > 0 ? 3 + digits : 2, '0');
  const hours = Math.floor(minutes / 60);
  if (hours === 0) return `${minutes}m ${rest}s`;
  const clock = `${hours}h ${pad(minutes % 60)}m`;
  return whole ? clock : `${clock} ${rest}s`;
}

function milliseconds(seconds: number): string {
  const ms = seconds * 1000;
  return `${ms >= 10 ? Math.round(ms) : ms.toFixed(1)} ms`;
}

// Formats the time since `timeMs`. A future time is shown as now, because clocks may differ
// slightly.
export function ago(timeMs: number, nowMs: number): string {
  if (timeMs <= 0) return ABSENT;
  const seconds = Math.max(0, Math.round((nowMs - timeMs) / 1000));
  if (seconds < 5) return 'now';
  if (seconds < 60) return `${seconds}s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ago`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h ago`;
  return `${Math.floor(seconds / 86_400)}d ago`;
}

// Returns the local time of day, with the date unless it is on the same day as `nowMs`.
export function clockTime(timeMs: number, nowMs: number): string {
  if (timeMs <= 0) return ABSENT;
  const time = new Date(timeMs);
  const day = `${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}`;
  if (new Date(nowMs).toDateString() === time.toDateString()) return day;
  const date = `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`;
  return `${date} ${day}`;
}

// Returns the exact date and time with the time zone, for a title attribute.
export function fullTime(timeMs: number): string {
  return timeMs <= 0
    ? ABSENT
    : new Date(timeMs).toISOString().replace('T', ' ').replace('Z', ' UTC');
}
