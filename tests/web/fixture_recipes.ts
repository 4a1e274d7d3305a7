// The fixture server's recipes, schema of job files, checks and plans.
import type {
  GetPlannerResponse,
  GetRecipeResponse,
  PlanJobResponse,
  PlanLayoutResponse,
} from '../../web/src/api/types';

const TEXTS: Record<string, string> = {
  'llama3-8b': `# LLaMA 3 8B on one node of 8.
name: llama3-8b
resources: {nodes: 1, slots_per_node: 8}
layout: {cp: 2, zero: 2, micro_batch: 1}
model:
  num_layers: 32
  hidden_size: 4096
data: {blend: [0.65 /data/web, 0.35 /data/books]}
train: {seq_length: 8192, global_batch: 128, steps: 100000}
optimizer: {lr: 3e-4, min_lr: 3e-5}
`,
  'llama-tiny-cpu': `# A small model for two CPU slots.
name: llama-tiny-cpu
resources: {nodes: 2, slots_per_node: 1, device: cpu}
train: {seq_length: 128, global_batch: 16, steps: 300}
`,
};

export function plannerLists(): GetPlannerResponse {
  const recipe = (name: string, description: string) => ({ name, description, trainable: true });
  const device = { memory_bytes: 80e9, node_link: 'NVLink', network: 'ndr' };
  return {
    recipes: [
      recipe('llama-tiny-cpu', 'LLaMA-family model for two CPU slots.'),
      recipe('llama3-8b', 'LLaMA 3 8B on 1 x 8 GPUs, samples of 8,192 tokens.'),
    ],
    devices: ['H100', 'H200'].map((name) => ({ name, ...device })),
    networks: [{ name: 'ndr', bytes_per_second: 5e10 }],
    own_nodes: [{ device: 'H200', nodes: 4, per_node: 8 }],
    max_nodes: 16_384,
    max_per_node: 1_024,
    max_devices: 16_384,
    usual_per_node: 8,
  };
}

export function recipeText(name: string): GetRecipeResponse | undefined {
  const text = TEXTS[name];
  return text === undefined ? undefined : { name, text };
}

export const JOB_SCHEMA = {
  type: 'object',
  description: 'A job file: one training run.',
  properties: {
    name: { type: 'string', description: 'Name of the job.', examples: ['llama3-8b'] },
    train: {
      type: 'object',
      description: 'Length and batch of the run.',
      properties: {
        global_batch: {
          type: ['number', 'string'],
          description: 'Samples per step, over all ranks.',
          minimum: 1,
          maximum: 16_777_216,
          examples: ['512'],
        },
        seq_length: { type: ['number', 'string'], description: 'Tokens per sample.' },
        steps: { type: ['number', 'string'], description: 'Number of steps.' },
      },
    },
  },
};

// Returns the controller's message on a job file with the key `comand`; undefined if the file is
// valid.
export function fileError(text: string): string | undefined {
  const line = text.split('\n').findIndex((one) => one.startsWith('comand'));
  if (line === -1) return undefined;
  return (
    `job file:${line + 1}:1: unknown key \`comand\`; did you mean \`command\`?\n` +
    '`train.steps` must be at least 1, got 0'
  );
}

// Two nodes in different leaves of a spine.
const DISTANCES: PlanJobResponse['axis_distances'] = [
  {
    axis: 'dp',
    ranks: 2,
    crossed_level: 'spine',
    limit: 'spine',
    bytes_per_second: 12.5e9,
    is_assumed: false,
  },
];

export function checkedPlan(text: string): PlanJobResponse {
  const onCpu = text.includes('device: cpu');
  const rank = { local_rank: 0, slot: 0, standby: false, replaced: false };
  return {
    ranks: [0, 1].map((index) => ({ rank: index, node_id: `node-${index + 1}`, ...rank })),
    starts_now: true,
    node_names: { 'node-1': 'gpu01', 'node-2': 'gpu02' },
    spec: {
      extends: [],
      after: [],
      command: [],
      env: {},
      secrets: [],
      unset_env: [],
      matrix: {},
      resources: { nodes: 1, slots_per_node: 8, device: onCpu ? 'cpu' : 'gpu' },
    },
    origins: [],
    warnings: onCpu ? ['no data is set; set `data.path`'] : [],
    axis_distances: onCpu ? [] : DISTANCES,
    ...(onCpu ? {} : { step_seconds: 14.3 }),
  };
}

export function layoutPlan(): PlanLayoutResponse {
  const waits = {
    tp_wait_seconds: 0,
    cp_wait_seconds: 0.1,
    pp_wait_seconds: 0,
    dp_wait_seconds: 0.3,
    world_wait_seconds: 0,
    ep_wait_seconds: 0,
    input_wait_seconds: 0,
  };
  const step = { stage: 0, step_seconds: 14.1, compute_seconds: 13.5, optimizer_seconds: 0.2 };
  const layout = { cp: 2, zero: 2, micro_batch: 1 };
  const memory = {
    stage: 0,
    total_bytes: 55e9,
    weights_bytes: 16e9,
    gradients_bytes: 16e9,
    moments_bytes: 8e9,
    activations_bytes: 12e9,
    working_bytes: 2e9,
    overhead_bytes: 1e9,
    dispatch_bytes: 0,
  };
  return {
    name: 'llama3-8b',
    cluster: {
      device: 'H200',
      device_bytes: 143e9,
      plannable_bytes: 130e9,
      nodes: 1,
      per_node: 8,
      devices: 8,
      network: 'ndr',
      node_link: 'NVLink',
    },
    run: { parameters: 8.03e9, seq_length: 8_192, global_batch: 128, steps: 100_000 },
    layouts_tried: 240,
    warnings: [],
    layout,
    layout_text: '{cp: 2, zero: 2, micro_batch: 1}',
    step: { ...step, ...waits },
    memory,
    stages: [{ first_rank: 0, last_rank: 7, first_node: 0, last_node: 0, layers: 32 }],
    rank_axes: [],
    tokens_per_second: 74_500,
    mfu: 0.545,
    tokens: 104_857_600_000,
    days: 16.3,
    device_hours: 3_130,
    costs: [],
    pareto: [],
    not_chosen: [],
    notes: [],
    written_layout: {
      layout,
      layout_text: '{tp: 2, zero: 1}',
      step: { ...step, ...waits, step_seconds: 15.2 },
      memory: { ...memory, total_bytes: 61e9 },
    },
  };
}
