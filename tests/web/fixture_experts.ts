// Generates the load of experts by formula.
import type { ExpertBalance, GetExpertsResponse, Job, LayerBalance } from '../../web/src/api/types';
import { NOW } from './fixtures';

const STEPS = Array.from({ length: 40 }, (_, index) => 100 * (index + 1));

// Returns a number between 0 and 1 that depends only on the arguments.
function random(a: number, b: number): number {
  const value = Math.sin(a * 12.9898 + b * 78.233) * 43758.5453;
  return value - Math.floor(value);
}

// The loads become more even with every step, except in the fifth layer, which collapses.
function loadsOf(layer: number, experts: number, topk: number, step: number): number[] {
  const spread = layer === 4 ? 1 + step / 1_500 : 0.25 + 120 / (step + 60);
  const raw = Array.from({ length: experts }, (_, expert) =>
    Math.exp(spread * 2 * (random(layer + 1, expert + 1) - 0.5)),
  );
  if (layer === 4 && step > 2_000) raw.fill(0, experts - 2);
  const mean = raw.reduce((sum, load) => sum + load, 0) / experts;
  return raw.map((load) => Math.min(Number((load / mean).toPrecision(3)), experts / topk));
}

function layerOf(number: number, experts: number, topk: number, step: number): LayerBalance {
  const load = loadsOf(number, experts, topk, step);
  const balance = Math.max(...load);
  return {
    layer: number,
    balance,
    aux_loss: Number((1 + (balance - 1) / 12).toFixed(4)),
    entropy: Number((0.93 - balance / 40).toFixed(4)),
    dropped: 0,
    load,
  };
}

function balanceOf(job: Job, step: number): ExpertBalance {
  const model = job.spec?.model;
  const experts = model?.num_experts ?? 8;
  const topk = model?.moe_router_topk ?? 2;
  const first = model?.moe_dense_layers ?? 0;
  const layers = Array.from({ length: (model?.num_layers ?? 8) - first }, (_, index) =>
    layerOf(first + index, experts, topk, step),
  );
  const worst = layers.reduce((a, b) => ((b.balance as number) > (a.balance as number) ? b : a));
  return {
    step,
    time_ms: NOW - 8_000,
    attempt: job.attempts.findLast(({ resume_step: start }) => start < step)?.number ?? 1,
    experts,
    topk,
    worst_layer: worst.layer,
    layers,
  };
}

export function expertsResponse(job: Job, query: URLSearchParams): GetExpertsResponse {
  const stamp = { revision: 7, as_of_ms: NOW };
  if (!job.spec?.model?.num_experts) return { steps: [], findings: [], ...stamp };
  const asked = Number(query.get('step')) || Infinity;
  const step = STEPS.findLast((kept) => kept <= asked);
  const findings = [
    {
      what: 'experts of layer 4 get no tokens',
      why:
        '2 of 64 experts (the first is expert 62) had no rows in any of the recorded steps ' +
        'since step 2100',
      change: 'a model.moe_aux_loss_coeff above 0.001, or an optimizer.lr below 0.0003',
    },
  ];
  if (step === undefined) return { steps: STEPS, findings, ...stamp };
  return { steps: STEPS, balance: balanceOf(job, step), findings, ...stamp };
}
