// Answers of GET /nodes/{node}: past attempts, and a day of readings of each GPU.
import type { DeviceHistory, GetNodeResponse, Node, NodeAttempt } from '../../web/src/api/types';
import { MINUTE, NOW } from './fixtures';

const INTERVALS_MAX = 240;

function history(slot: number, hours: number): DeviceHistory {
  const interval = Math.max(2 * MINUTE, (hours * 60 * MINUTE) / INTERVALS_MAX);
  const amount = (hours * 60 * MINUTE) / interval;
  const last = Math.floor(NOW / interval);
  const first = last - amount + 1;
  const times = Array.from({ length: amount }, (_, index) => (first + index) * interval);
  const wave = (middle: number, by: number) =>
    times.map((time) => Math.round(middle + by * Math.sin(time / (90 * MINUTE) + slot)));
  return {
    slot,
    uuid: `GPU-${slot}`,
    model: 'NVIDIA H200',
    error: '',
    last_xid: 0,
    interval_ms: interval,
    time_ms: times,
    utilization_percent: wave(92, 6),
    memory_mib: wave(118_000, 2_000),
    temperature_celsius: wave(68, 9),
    power_watts: wave(640, 50),
    throttled_percent: times.map(() => 0),
    ecc_uncorrected: times.map(() => 0),
  };
}

const pastAttempt = (number: number, change: Partial<NodeAttempt>): NodeAttempt => ({
  job_id: 42,
  job_name: 'llama3-8b-c4',
  attempt: number,
  ranks: [8, 9, 10, 11],
  state: 'ended',
  stop_reason: 'failed',
  cause: 'rank_signaled',
  summary: 'rank 11 on gpu02 was ended by signal 9 (SIGKILL)',
  at_fault: true,
  placed_time_ms: NOW - number * 90 * MINUTE,
  ended_time_ms: NOW - number * 61 * MINUTE,
  last_step: 2210,
  ...change,
});

// GPU 2 is too hot, GPU 3 has errors, and GPU 5 has no readings.
export function nodeResponse(node: Node, hours: number): GetNodeResponse {
  const gpus = (node.inventory?.slots ?? []).filter(({ kind }) => kind === 'gpu');
  const devices = gpus.map(({ index }) => history(index, hours));
  const [, , hot, broken] = devices;
  if (hot) hot.throttled_percent[hot.throttled_percent.length - 1] = 100;
  if (broken) {
    broken.last_xid = 79;
    broken.ecc_uncorrected = broken.ecc_uncorrected.map((_, index) => (index > 100 ? 2 : 0));
  }
  const none = { summary: '', at_fault: false, cause: 'unspecified' } as const;
  return {
    node,
    attempts: [
      pastAttempt(3, { state: 'running', stop_reason: 'unspecified', ...none, ended_time_ms: 0 }),
      pastAttempt(1, {}),
      pastAttempt(2, { stop_reason: 'paused', ...none, ranks: [8] }),
    ],
    devices: devices.filter(({ slot }) => slot !== 5),
    revision: 7,
    as_of_ms: NOW,
  };
}
