// A fictitious cluster with every state that a page must show.
import type {
  EventEntry,
  GetJobResponse,
  Job,
  Node,
  PendingReason,
  RankStatus,
  StorageProblem,
} from '../../web/src/api/types';
import { MINUTE, NOW, attempt, checkpoint, job, node } from './fixture_records';
import { NO_ESTIMATE } from './no_estimate';

export { MINUTE, NOW, attempt, checkpoint, job, node } from './fixture_records';

export interface Cluster {
  clusterId: string;
  jobs: Job[];
  nodes: Node[];
  pending: Map<number, PendingReason>;
  // Number of queued jobs, if `jobs` does not contain all of them.
  waitingTotal?: number;
  events: EventEntry[];
  // Each rank's `flights`, by rank. All jobs have the same entries.
  flights: Map<number, RankStatus['flights']>;
  storageProblems: StorageProblem[];
  // The alerts of jobs with several attempts.
  alerts: GetJobResponse['alerts'];
  warnings: string[];
}

const progress = (step: number, loss: number) => ({
  step,
  total_steps: 4769,
  loss,
  tokens_per_second: 512_300,
  step_seconds: 8.19,
  eta_seconds: (4769 - step) * 8.19,
  time_ms: NOW - 2_000,
  validation_loss: loss + 0.06,
  best_loss: loss - 0.02,
  evaluations: [],
  tokens: step * 512 * 8192,
  total_tokens: 4769 * 512 * 8192,
  loss_step: step,
});

const LOST_RANK = {
  cause: 'rank_signaled',
  rank: 11,
  node_id: 'node-2',
  exit_code: 0,
  signal: 9,
  summary: 'rank 11 on gpu02 was ended by signal 9 (SIGKILL); its peers stopped within 1.2 s',
  log_tail: 'step 2209 loss 2.4310\nstep 2210 loss 2.4275\n',
  restartable: true,
  time_ms: NOW - 61 * MINUTE,
  checkpoint: '',
  error_line: '',
  action: 'unspecified',
  ranks: [] as number[],
  stacks: '',
  lost_steps: 0,
} as const;

function placeOn(nodes: Node[], jobId: number, attempt: number, count: number) {
  return Array.from({ length: count }, (_, rank) => {
    const at = nodes[Math.floor(rank / 8)] as Node;
    at.slot_uses[rank % 8] = {
      job_id: jobId,
      attempt,
      rank,
      unkillable: '',
      requested_cpus: 0,
      requested_memory_bytes: 0,
    };
    return {
      rank,
      node_id: at.id,
      local_rank: rank % 8,
      slot: rank % 8,
      standby: false,
      replaced: false,
    };
  });
}

function restartedJob(nodes: Node[]): Job {
  const ranks = placeOn(nodes, 42, 2, 16);
  return job(42, 'llama3-8b-c4', 'running', {
    attempts: [
      attempt(1, {
        state: 'ended',
        ranks,
        ended_time_ms: NOW - 60 * MINUTE,
        last_step: 2210,
        verdict: LOST_RANK,
      }),
      attempt(2, {
        ranks,
        resume_step: 2000,
        resume_from: '/ckpt/llama3-8b-c4/step-2000',
        last_step: 3104,
        placed_time_ms: NOW - 59 * MINUTE,
        started_time_ms: NOW - 58 * MINUTE,
      }),
    ],
    checkpoints: [2000, 2500, 3000].map((step, index) =>
      checkpoint(step, index === 0 ? 1 : 2, NOW - (90 - index * 40) * MINUTE),
    ),
    restarts: 1,
    progress: progress(3104, 2.3127),
  });
}

const FAILED = {
  cause: 'bad_job',
  rank: 0,
  node_id: 'node-3',
  exit_code: 65,
  signal: 0,
  summary: 'rank 0 on gpu03 exited with 65: token id 128263 is outside the vocabulary of 128256',
  log_tail: 'error: token id 128263 is outside the vocabulary of 128256\n',
  restartable: false,
  time_ms: NOW - 200 * MINUTE,
  checkpoint: '',
  error_line: 'error: token id 128263 is outside the vocabulary of 128256',
  action: 'unspecified',
  ranks: [] as number[],
  stacks: '',
  lost_steps: 0,
} as const;

function endedJobs(): Job[] {
  const begin = { submitted_time_ms: NOW - 300 * MINUTE };
  const ended = NOW - 190 * MINUTE;
  return [
    job(38, 'llama3-1b-sweep-a', 'succeeded', {
      ...begin,
      ended_time_ms: ended,
      progress: progress(4769, 2.6105),
      attempts: [attempt(1, { state: 'ended', ended_time_ms: ended, last_step: 4769 })],
    }),
    job(39, 'tokenizer-check', 'failed', {
      ...begin,
      user: 'grace',
      ended_time_ms: ended,
      verdict: FAILED,
      attempts: [attempt(1, { state: 'ended', ended_time_ms: ended, verdict: FAILED })],
    }),
    job(40, 'llama3-1b-sweep-b', 'stopped', {
      ...begin,
      ended_time_ms: ended,
      progress: progress(1700, 2.8912),
      attempts: [attempt(1, { state: 'ended', ended_time_ms: ended, last_step: 1700 })],
    }),
  ];
}

function waitingJobs(pending: Cluster['pending']): Job[] {
  pending.set(44, {
    code: 'resources',
    queue_position: 1,
    blocking_job_id: 0,
    promised_ms: NOW + 25 * MINUTE,
    estimated_start_ms: NOW + 20 * MINUTE,
    estimated_earliest_ms: NOW + 10 * MINUTE,
    estimated_latest_ms: NOW + 30 * MINUTE,
    promises: [
      {
        time_ms: NOW - 42 * MINUTE,
        promised_ms: NOW + 5 * MINUTE,
        cause: 'first',
        reason: 'is the first of its queue',
      },
      {
        time_ms: NOW - 3 * MINUTE,
        promised_ms: NOW + 25 * MINUTE,
        cause: 'limit_extended',
        reason: 'the time limit of job 41 (evaluate) was extended',
      },
    ],
    others: [],
    advice: 'It would start now with resources.nodes=1.',
    message:
      'Needs 4 nodes with 8 free GPUs; 1 is free, 1 is cordoned, 1 is lost, 3 are held by jobs.',
  });
  pending.set(45, {
    code: 'priority',
    queue_position: 2,
    blocking_job_id: 44,
    promised_ms: 0,
    ...NO_ESTIMATE,
    promises: [],
    others: [{ code: 'resources', message: 'needs 1 node with 8 gpu slots; none of 6 nodes fits' }],
    advice: '',
    message:
      'second in line, behind qwen3-32b-warmup (#44), which needs 4 nodes with 8 gpu slots each',
  });
  return [
    job(44, 'qwen3-32b-warmup', 'queued', {
      user: 'grace',
      submitted_time_ms: NOW - 42 * MINUTE,
    }),
    job(45, 'mixtral-ablation-router-z', 'queued', { submitted_time_ms: NOW - 11 * MINUTE }),
  ];
}

const by = (actor: string) => ({ actor, actor_verified: false, leader_term: 0 });

function eventsOf(): EventEntry[] {
  const events: EventEntry['event'][] = [
    {
      time_ms: NOW - 130 * MINUTE,
      ...by('user ada'),
      job_submitted: {
        job_id: 42,
        user: 'ada',
        origins: [],
        origin_list: '',
        request_id: '',
        held: false,
        cloned_from: 0,
        after: [],
        array_id: 0,
        array_index: 0,
      },
    },
    {
      time_ms: NOW - 61 * MINUTE,
      ...by('node gpu02'),
      attempt_failed: {
        job_id: 42,
        attempt: 1,
        verdict: LOST_RANK,
      },
    },
    {
      time_ms: NOW - 58 * MINUTE,
      ...by('controller'),
      attempt_running: { job_id: 42, attempt: 2, resume_step: 0 },
    },
    {
      time_ms: NOW - 40 * MINUTE,
      ...by('controller'),
      node_lost: {
        node_id: 'node-6',
        reason: 'no heartbeat for 16 s and the progress of its peers stopped',
      },
    },
    {
      time_ms: NOW - 31 * MINUTE,
      ...by('user grace'),
      node_cordoned: {
        node_id: 'node-5',
        reason: 'ECC errors, ticket 311',
      },
    },
    {
      time_ms: NOW - 20 * MINUTE,
      ...by('node gpu01'),
      alert_raised: {
        job_id: 42,
        attempt: 2,
        step: 2890,
        code: 'loss_spike',
        message: 'loss 4.1 is 7.2 sigma high',
        by_guard: false,
        by_watchdog: false,
      },
    },
    {
      time_ms: NOW - 10 * MINUTE,
      ...by('node gpu01'),
      checkpoint_published: {
        job_id: 42,
        checkpoint: checkpoint(3000, 2, NOW - 10 * MINUTE),
      },
    },
  ];
  return events.map((event, index) => ({ sequence: index + 1, event }));
}

export function alert(step: number, code: string, message: string): Cluster['alerts'][number] {
  return { sequence: step, time_ms: NOW - 20 * MINUTE, attempt: 2, step, code, message };
}

export function busyCluster(): Cluster {
  const nodes = [1, 2, 3, 4].map((index) => node(index, 8));
  const pending = new Map<number, PendingReason>();
  const restarted = restartedJob(nodes);
  const single = placeOn(nodes.slice(2), 43, 1, 8);
  const running = job(43, 'llama3-1b-wsd', 'running', {
    attempts: [attempt(1, { ranks: single, last_step: 812 })],
    progress: progress(812, 3.0412),
    submitted_time_ms: NOW - 125 * MINUTE,
  });
  const away = [
    node(5, 8, {
      word: 'cordoned',
      cordoned: true,
      cordon_reason: 'ECC errors, ticket 311 (grace)',
    }),
    node(6, 8, {
      word: 'lost',
      state: 'lost',
      state_reason: 'no heartbeat for 16 s and the progress of its peers stopped',
      last_heartbeat_ms: NOW - 40 * MINUTE,
    }),
  ];
  return {
    clusterId: 'fixture',
    jobs: [...endedJobs(), restarted, running, ...waitingJobs(pending)],
    nodes: [...nodes, ...away],
    pending,
    events: eventsOf(),
    flights: new Map(),
    storageProblems: [],
    alerts: [alert(2890, 'loss_spike', 'loss 4.1 is 7.2 sigma high')],
    warnings: [],
  };
}

export function emptyCluster(): Cluster {
  const noProblems = { storageProblems: [], alerts: [], warnings: [] };
  const nothing = { jobs: [], nodes: [], events: [], ...noProblems };
  return { clusterId: 'fixture', pending: new Map(), flights: new Map(), ...nothing };
}
