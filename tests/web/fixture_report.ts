// The usage reports of a fixture cluster.
import type { Cost, GetReportResponse, LedgerPhase } from '../../web/src/api/types';
import { NOW } from './fixtures';

type Group = NonNullable<GetReportResponse['total']>;
export type Price = Omit<Cost, 'amount'>;

const GPUS = 8;
const DAY_MS = 86_400_000;

// Slot-seconds by phase.
type Times = Partial<Record<LedgerPhase, number>>;

interface Named {
  name: string;
  job_id?: number;
  times: Times;
}

// ada spent all time on training. grace lost a quarter of the time to restarts.
const USERS: Named[] = [
  { name: 'ada', times: { queued: 7_200, train: 800_000 } },
  { name: 'grace', times: { train: 300_000, restart: 100_000 } },
];
const JOBS: Named[] = [
  { name: 'llama3-8b', job_id: 42, times: { queued: 7_200, train: 800_000 } },
  { name: 'sweep', job_id: 7, times: { train: 300_000, restart: 100_000 } },
];
const WEEKS: Named[] = [
  { name: '2026-11-16', times: { queued: 7_200, train: 500_000, restart: 100_000 } },
  { name: '2026-11-23', times: { train: 600_000 } },
];

// Returns the fields with the cost; no fields without a price.
export function costOf(gpuSeconds: number, price: Price | undefined): { cost?: Cost } {
  if (!price) return {};
  return { cost: { amount: (gpuSeconds / 3600) * Number(price.gpu_hour_price), ...price } };
}

function groupOf({ name, job_id = 0, times }: Named, price: Price | undefined): Group {
  const { queued = 0, ...held } = times;
  const phases = Object.entries(times).map(([phase, seconds]) => ({
    phase: phase as LedgerPhase,
    seconds: phase === 'queued' ? seconds : seconds / GPUS,
    slot_seconds: phase === 'queued' ? 0 : seconds,
  }));
  const slots = Object.values(held).reduce((sum, seconds) => sum + seconds, 0);
  const goodput = slots > 0 ? (times.train ?? 0) / slots : 0;
  return {
    name,
    job_id,
    jobs: 2,
    restarts: times.restart ? 3 : 0,
    phases,
    wall_seconds: queued + slots / GPUS,
    slot_seconds: slots,
    goodput_ratio: goodput,
    effective_ratio: goodput,
    idle_slot_seconds: 0,
    idle_since_ms: 0,
    gpu_seconds: slots,
    ...costOf(slots, price),
  };
}

function sumOf(groups: readonly Named[]): Times {
  const sum: Times = {};
  for (const { times } of groups) {
    for (const [phase, seconds] of Object.entries(times) as [LedgerPhase, number][]) {
      sum[phase] = (sum[phase] ?? 0) + seconds;
    }
  }
  return sum;
}

// `price` is undefined for a controller without a price.
export function reportFixture(query: URLSearchParams, price: Price | undefined): GetReportResponse {
  const by = query.get('by');
  const all = by === 'week' ? WEEKS : by === 'job' ? JOBS : USERS;
  // grace started the second job.
  const groups = by === 'job' && query.get('user') === 'grace' ? all.slice(1) : all;
  return {
    groups: groups.map((group) => groupOf(group, price)),
    total: groupOf({ name: 'total', times: sumOf(groups) }, price),
    since_ms: Number(query.get('since')) || NOW - 28 * DAY_MS,
    until_ms: NOW,
    revision: 7,
    as_of_ms: NOW,
  };
}
