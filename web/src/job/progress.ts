// Figures of a job for its header and for list rows. Pure functions.
import type { Attempt, Job } from '../api/types';
import { hasEnded } from '../api/live';
import { count, measuredText, plural } from '../format/numbers';
import { wordOf } from './health';

const finite = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value !== 0 ? value : undefined;

export const newestAttempt = (job: Job): Attempt | undefined => job.attempts.at(-1);

export interface Figures {
  step: number;
  totalSteps: number;
  // From 0 to 1; undefined if the total is unknown.
  done: number | undefined;
  loss: number | undefined;
  // The newest losses on evaluation sets, such as "validation 2.3100, code 1.0800".
  evaluations: string | undefined;
  tokensPerSecond: number | undefined;
  stepSeconds: number | undefined;
  // True if the rate is the job's rate now, or the last rate of an ended job.
  isCurrent: boolean;
  etaSeconds: number | undefined;
  // Number of tokens trained on; undefined if the settings do not determine the batch size.
  tokens: number | undefined;
  totalTokens: number | undefined;
}

const SHOWN_SETS = 3;

function evaluationText(progress: Job['progress']): string | undefined {
  // Jobs of older releases have only the loss on the set `val`.
  const older = finite(progress?.validation_loss);
  const sets = progress?.evaluations?.length
    ? progress.evaluations
    : older === undefined
      ? []
      : [{ data_set: 'val', loss: older }];
  const shown = sets
    .slice(0, SHOWN_SETS)
    .map(
      ({ data_set: name, loss }) =>
        `${name === 'val' ? 'validation' : name} ${measuredText(loss)}`,
    );
  if (sets.length > shown.length) shown.push(`+${plural(sets.length - shown.length, 'set')}`);
  return shown.join(', ') || undefined;
}

export function figuresOf(job: Job): Figures {
  const progress = job.progress;
  const step = progress?.step ?? 0;
  const totalSteps = progress?.total_steps || job.spec?.train?.steps || 0;
  return {
    step,
    totalSteps,
    done: totalSteps > 0 ? Math.min(1, step / totalSteps) : undefined,
    loss: finite(progress?.loss),
    evaluations: evaluationText(progress),
    tokensPerSecond: finite(progress?.tokens_per_second),
    stepSeconds: finite(progress?.step_seconds),
    // The controller sends a rate and an ETA only while they are current.
    isCurrent: hasEnded(job) || Boolean(progress?.tokens_per_second || progress?.eta_seconds),
    etaSeconds: hasEnded(job) ? undefined : finite(progress?.eta_seconds),
    // 0 tokens is valid at the beginning of a run, so only an unknown total means unknown.
    tokens: progress?.total_tokens ? progress.tokens : undefined,
    totalTokens: finite(progress?.total_tokens),
  };
}

// Returns the step of a loss that is older than the newest step, such as "(step 480)"; undefined
// for the loss of the newest step.
export function oldLossText({ progress }: Pick<Job, 'progress'>): string | undefined {
  const { step = 0, loss_step: lossStep = 0 } = progress ?? {};
  return 0 < lossStep && lossStep < step ? `(step ${count(lossStep)})` : undefined;
}

// Such as "2 × 8 gpu". For an elastic job "4 of 2..8 × 8 gpu": 4 nodes of its newest attempt.
export function shapeText(job: Job): string {
  const { nodes = 1, slots_per_node: slots = 1, device = 'gpu' } = job.spec?.resources ?? {};
  return `${nodesText(job, nodes)} × ${slots} ${device}`;
}

function nodesText(job: Job, most: number): string {
  const least = job.spec?.min_nodes ?? most;
  if (least >= most) return `${most}`;
  const now = job.attempts?.at(-1)?.layout?.nodes;
  return now ? `${now} of ${least}..${most}` : `${least}..${most}`;
}

export interface StepAge {
  timeMs: number;
  // True if the controller says that the job is stalled.
  late: boolean;
}

// Returns the time of the newest step; undefined if the job has no steps or is not running.
export function stepAge(job: Job): StepAge | undefined {
  const timeMs = job.progress?.time_ms ?? 0;
  if (timeMs <= 0 || !job.progress?.step || job.state !== 'running') return undefined;
  return { timeMs, late: wordOf(job) === 'stalled' };
}

// Returns the failure of a job or, while the job recovers, of its last attempt; undefined for other
// jobs. A stop that lost steps is a failure.
export function failureOf(job: Job): string | undefined {
  const recovers = job.state === 'recovering';
  const lost = (job.verdict?.lost_steps ?? 0) > 0;
  if (job.state !== 'failed' && !recovers && !lost) return undefined;
  const verdict = job.verdict ?? newestAttempt(job)?.verdict;
  return verdict?.summary || verdict?.cause || undefined;
}

// Returns the used part of the restart budget, such as "8 of 20 restarts".
export function restartsText(job: Job): string {
  if (job.restarts === 0) return 'no restarts';
  const budget = job.spec?.restart?.max_restarts;
  const used = budget === undefined ? '' : `${job.restarts} of `;
  return used + plural(budget ?? job.restarts, 'restart');
}

// Returns the seconds from the submission to the end, or until now.
export function wallSeconds(job: Job, nowMs: number): number {
  return Math.max(0, (job.ended_time_ms || nowMs) - job.submitted_time_ms) / 1000;
}
