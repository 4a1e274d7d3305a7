// A fixture cluster of 136 nodes with a long queue.
import { NOW, MINUTE, attempt, busyCluster, job, node, type Cluster } from './fixtures';
import { NO_ESTIMATE } from './no_estimate';

export const LARGE_NODES = 136;
const GANG_NODES = 112;
// The stream sends at most this many queued jobs.
export const QUEUE_SENT = 150;
export const QUEUE_TOTAL = 2_502;

function nodeName(index: number): string {
  return `gpu-rack${String(Math.floor(index / 8) + 1).padStart(2, '0')}-h200-node${index + 1}`;
}

function largeNodes() {
  const nodes = Array.from({ length: LARGE_NODES }, (_, index) =>
    node(index + 1, 8, { name: nodeName(index) }),
  );
  nodes.slice(0, GANG_NODES).forEach((held, at) => {
    held.slot_uses.forEach((use, slot) =>
      Object.assign(use, { job_id: 42, attempt: 2, rank: at * 8 + slot }),
    );
  });
  const silent = nodes[60]!;
  silent.state = 'suspect';
  silent.word = 'suspect';
  silent.state_reason = 'no heartbeat for 3142 ms';
  silent.last_heartbeat_ms = NOW - 27 * MINUTE;
  return nodes;
}

export function largeCluster(): Cluster {
  const cluster = { ...busyCluster(), nodes: largeNodes(), waitingTotal: QUEUE_TOTAL };
  cluster.jobs = cluster.jobs.filter(({ state }) => state !== 'queued');
  cluster.pending.clear();
  const gang = cluster.jobs.find(({ id }) => id === 42)!;
  gang.attempts.push(attempt(3, { last_step: 3104 }));
  const head = job(44, 'mixtral', 'queued');
  head.spec!.resources = { nodes: 30, slots_per_node: 8, device: 'gpu' };
  cluster.jobs.push(head);
  cluster.pending.set(44, {
    code: 'resources',
    queue_position: 1,
    blocking_job_id: 0,
    promised_ms: 0,
    ...NO_ESTIMATE,
    promises: [],
    advice: '`trainyard ps` shows the jobs that use the slots',
    message: 'needs 30 nodes with 8 gpu slots; 23 of 136 nodes have enough free slots',
  });
  for (let id = 45; id < 44 + QUEUE_SENT; id++) {
    cluster.jobs.push(job(id, `sweep-${id}`, 'queued'));
    cluster.pending.set(id, {
      code: 'priority',
      queue_position: id - 43,
      blocking_job_id: 44,
      promised_ms: 0,
      ...NO_ESTIMATE,
      promises: [],
      advice: '`trainyard why 44` explains the next job',
      message: `number ${id - 43} in line, behind mixtral (#44), which needs 30 nodes`,
    });
  }
  return cluster;
}
