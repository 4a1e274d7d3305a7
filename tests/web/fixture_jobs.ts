// Creates the fixture server's responses for one job: the job with its ledger, and its ranks.
import type { GetJobResponse, Job, RankStatus, StepTime } from '../../web/src/api/types';
import { costOf, type Price } from './fixture_report';
import { NOW, type Cluster } from './fixtures';

// Returns a rank's times in a step of 8.2 s. All ranks wait for the rank with the longest compute
// time.
function stepTimeOf(rank: number): StepTime {
  const compute = rank === 11 ? 7.4 : 5.9 + ((rank * 7) % 5) / 20;
  const [optimizer, tp_wait, world_wait] = [0.31, 0.22, 0.014];
  return {
    compute,
    optimizer,
    input_wait: 0,
    tp_wait,
    ep_wait: 0,
    cp_wait: 0,
    pp_wait: 0,
    dp_wait: 8.2 - compute - optimizer - tp_wait - world_wait,
    world_wait,
    checkpoint_wait: 0,
  };
}

export function ranksOf(found: Job, flights: Cluster['flights']): RankStatus[] {
  const newest = found.attempts.at(-1);
  return (newest?.ranks ?? []).map((placement) => ({
    ...placement,
    place: placement.rank,
    tp: placement.rank % 2,
    cp: 0,
    dp: Math.floor(placement.rank / 2),
    pp: 0,
    state: 'running',
    step: found.progress?.step ?? 0,
    phase: 'train',
    step_seconds: placement.rank === 11 ? 10.4 : 8 + ((placement.rank * 7) % 5) / 10,
    last_progress_ms: NOW - 1_000,
    exit_code: 0,
    signal: 0,
    data_stall_seconds: placement.rank === 5 ? 42 : 0.2,
    memory_bytes: placement.rank === 3 ? 120e9 : 96e9,
    step_time: stepTimeOf(placement.rank),
    flights: flights.get(placement.rank) ?? [],
    slow_ratio: 0,
  }));
}

export function jobResponse(cluster: Cluster, found: Job, price?: Price): GetJobResponse {
  const wall = ((found.ended_time_ms || NOW) - found.submitted_time_ms) / 1000;
  const restarted = found.attempts.length > 1;
  const begin = found.submitted_time_ms;
  const phases = [
    ['train', 0.78],
    ['checkpoint', 0.04],
    ['init', 0.06],
    ['redone', 0.05],
    ['restart', 0.02],
    ['queued', 0.05],
  ] as const;
  const gpuSeconds = 0.95 * wall * 16;
  let at = begin;
  const order = ['queued', 'init', 'train', 'checkpoint', 'redone', 'restart'] as const;
  const spans = order.map((phase) => {
    const share = phases.find(([name]) => name === phase)?.[1] ?? 0;
    const from = at;
    at += share * wall * 1000;
    return { phase, attempt: 1, begin_ms: from, end_ms: at, slots: 16 };
  });
  return {
    job: found,
    events: [],
    node_names: Object.fromEntries(cluster.nodes.map(({ id, name }) => [id, name])),
    pending: cluster.pending.get(found.id),
    ledger: {
      phases: phases.map(([phase, share]) => ({
        phase,
        seconds: share * wall,
        slot_seconds: phase === 'queued' ? 0 : share * wall * 16,
      })),
      wall_seconds: wall,
      goodput_ratio: 0.823,
      spans,
      gpu_seconds: gpuSeconds,
      ...costOf(gpuSeconds, price),
    },
    alerts: restarted ? cluster.alerts : [],
    revision: cluster.events.length,
    as_of_ms: NOW,
  };
}
