// Figures of a job, for its header and for rows of lists. Pure functions.
import type { Attempt, Job } from '../api/types';
import { hasEnded } from '../api/live';

const finite = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value !== 0 ? value : undefined;

export const newestAttempt = (job: Job): Attempt | undefined => job.attempts.at(-1);

export interface Figures {
  step: number;
  totalSteps: number;
  // From 0 to 1; undefined if the end is not known.
  done: number | undefined;
  loss: number | undefined;
  validationLoss: number | undefined;
  tokensPerSecond: number | undefined;
  stepSeconds: number | undefined;
  etaSeconds: number | undefined;
  // Number of tokens trained on. undefined if the settings do not determine the batch size.
  tokens: number | undefined;
  totalTokens: number | undefined;
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
    validationLoss: finite(progress?.validation_loss),
    tokensPerSecond: finite(progress?.tokens_per_second),
    stepSeconds: finite(progress?.step_seconds),
    etaSeconds: hasEnded(job) ? undefined : finite(progress?.eta_seconds),
    // 0 tokens is valid for a run that has just begun. The number is unknown only if the total is
    // unknown.
    tokens: progress?.total_tokens ? progress.tokens : undefined,
    totalTokens: finite(progress?.total_tokens),
  };
}

export function slotsWanted(job: Job): number {
  return (job.spec?.resources?.nodes ?? 1) * (job.spec?.resources?.slots_per_node ?? 1);
}

// Returns a text such as "2 nodes × 8 gpu".
export function shapeText(job: Job): string {
  const { nodes = 1, slots_per_node: slots = 1, device = 'gpu' } = job.spec?.resources ?? {};
  return `${nodes} × ${slots} ${device}`;
}

// A step is late if it takes this many times as long as usual, and also at least this many seconds.
const LATE_STEPS = 10;
const LATE_SECONDS = 30;

export interface StepAge {
  timeMs: number;
  late: boolean;
}

// Returns the time of the newest step; undefined if the job has no steps or is not running.
export function stepAge(job: Job, nowMs: number): StepAge | undefined {
  const timeMs = job.progress?.time_ms ?? 0;
  if (timeMs <= 0 || !job.progress?.step || job.state !== 'running') return undefined;
  const usual = finite(job.progress.step_seconds) ?? 0;
  const seconds = (nowMs - timeMs) / 1000;
  return { timeMs, late: seconds > Math.max(LATE_SECONDS, LATE_STEPS * usual) };
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

// Returns the seconds from the submission to the end, or until now.
export function wallSeconds(job: Job, nowMs: number): number {
  return Math.max(0, (job.ended_time_ms || nowMs) - job.submitted_time_ms) / 1000;
}
