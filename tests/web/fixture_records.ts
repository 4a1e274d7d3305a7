// Records of a fictitious cluster. The types are generated from the OpenAPI file.
import type {
  Attempt,
  Checkpoint,
  Job,
  JobState,
  Node,
} from '../../web/src/api/types';

export const NOW = Date.UTC(2026, 10, 21, 14, 30, 0);
export const MINUTE = 60_000;

export function node(index: number, slots: number, change: Partial<Node> = {}): Node {
  return {
    id: `node-${index}`,
    name: `gpu${String(index).padStart(2, '0')}`,
    state: 'ready',
    word: 'ok',
    address: `10.0.0.${index}`,
    inventory: {
      slots: Array.from({ length: slots }, (_, slot) => ({
        index: slot,
        kind: 'gpu',
        model: 'NVIDIA H200',
        uuid: `GPU-${index}-${slot}`,
        memory_bytes: 143 * 2 ** 30,
      })),
      cpu_cores: 192,
      memory_bytes: 2 * 2 ** 40,
    },
    incarnation: `inc-${index}`,
    labels: {},
    groups: [],
    worker_version: '0.1.0',
    joined_time_ms: NOW - 500 * MINUTE,
    last_heartbeat_ms: NOW - 400,
    slot_uses: Array.from({ length: slots }, () => ({
      job_id: 0,
      attempt: 0,
      rank: 0,
      unkillable: '',
      requested_cpus: 0,
      requested_memory_bytes: 0,
    })),
    state_reason: '',
    cordoned: false,
    cordon_reason: '',
    disk_bytes: 0,
    disk_free_bytes: 0,
    evidence: [],
    released_time_ms: 0,
    score: 100,
    reservations: [],
    ...change,
  };
}

export function attempt(number: number, change: Partial<Attempt> = {}): Attempt {
  return {
    number,
    state: 'running',
    size_change: '',
    ranks: [],
    master_address: '10.0.0.1',
    master_port: 29500,
    resume_from: '',
    resume_step: 0,
    placed_time_ms: NOW - 120 * MINUTE,
    started_time_ms: NOW - 119 * MINUTE,
    ended_time_ms: 0,
    last_step: 0,
    stop_reason: 'unspecified',
    resume_attempt: 0,
    skip_samples: '',
    lr_factor: 0,
    stopping_time_ms: 0,
    first_step: 0,
    heals: [],
    standbys: 0,
    paused_before_ms: 0,
    paused_from_ms: 0,
    ...change,
  };
}

export function checkpoint(step: number, attempt: number, timeMs: number): Checkpoint {
  const path = `/ckpt/llama3-8b-c4/step-${step}`;
  return {
    step,
    attempt,
    path,
    bytes: 96.4e9,
    time_ms: timeMs,
    deleted: false,
    damaged: false,
    rolled_back: false,
    metric: '',
    metric_value: 0,
  };
}

const ORIGINS = [
  { key: 'name', source: 'run.yaml:2:1' },
  { key: 'resources', source: 'run.yaml:4:1' },
  { key: 'layout', source: 'default' },
  { key: 'layout.dp', source: 'derived' },
  { key: 'train', source: 'recipe llama3-8b' },
  { key: 'train.global_batch', source: '--set' },
  { key: 'optimizer', source: 'default' },
  { key: 'optimizer.lr', source: 'recipe llama3-8b' },
];

export function job(id: number, name: string, state: JobState, change: Partial<Job> = {}): Job {
  return {
    id,
    name,
    user: 'ada',
    queue: 'default',
    priority: 0,
    preempts: false,
    array_id: 0,
    array_index: 0,
    array_rungs: 0,
    state,
    spec: {
      name,
      extends: [],
      after: [],
      command: [],
      env: { NCCL_DEBUG: 'WARN' },
      secrets: ['WANDB_API_KEY'],
      unset_env: [],
      matrix: {},
      resources: { nodes: 2, slots_per_node: 8, device: 'gpu' },
      layout: { tp: 2, cp: 1, ep: 1, dp: 8, pp: 1, vpp: 1, zero: 1, micro_batch: 1 },
      train: { seq_length: 8192, global_batch: 512, steps: 4769, precision: 'bf16' },
      optimizer: { lr: 3e-4, min_lr: 3e-5, weight_decay: 0.1, clip_grad: 1 },
      checkpoint: { every_steps: 500, keep_last: 3, async: true },
    },
    origins: ORIGINS,
    attempts: [],
    checkpoints: [],
    deleted_checkpoints: [],
    submitted_time_ms: NOW - 130 * MINUTE,
    ended_time_ms: 0,
    restarts: 0,
    not_before_ms: 0,
    paused_ms: 0,
    paused_from_ms: 0,
    resumed_starts: 0,
    rollbacks: [],
    notes: [],
    notes_written: 0,
    cloned_from: 0,
    after: [],
    children: [],
    progress: {
      step: 0,
      total_steps: 4769,
      loss: 0,
      tokens_per_second: 0,
      step_seconds: 0,
      eta_seconds: 0,
      time_ms: 0,
      validation_loss: 0,
      evaluations: [],
      tokens: 0,
      total_tokens: 4769 * 512 * 8192,
      loss_step: 0,
    },
    ...change,
  };
}
