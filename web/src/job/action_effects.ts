// Texts about what an action on a job loses and what it keeps. Pure functions.
import type { Job } from '../api/types';
import { count, plural } from '../format/numbers';
import { duration } from '../format/time';
import { newestAttempt } from './progress';
import { resumable } from './resubmit';

export interface Effect {
  // The harm that the action does; undefined if no harm is expected.
  warning: string | undefined;
  text: string;
  button: string;
  danger: boolean;
}

type AtRisk = NonNullable<Job['health']>;

// Returns "3,338 steps (28m 10s of work)".
function workText(health: AtRisk, nowMs: number): string {
  const { steps_at_risk: steps, at_risk_since_ms: since } = health;
  if (since <= 0) return plural(steps, 'step');
  return `${plural(steps, 'step')} (${duration((nowMs - since) / 1000)} of work)`;
}

const sinceText = ({ saved_step: saved }: AtRisk): string =>
  saved > 0 ? `since step ${count(saved)}` : 'since the start';

// The words for an action that asks the ranks to save a checkpoint.
interface SavingAction {
  verb: string;
  gerund: string;
}
const STOP: SavingAction = { verb: 'stop', gerund: 'stopping' };
const PAUSE: SavingAction = { verb: 'pause', gerund: 'pausing' };

interface Loss {
  text: string;
  // Text of the button. The text repeats the loss if the loss is certain.
  button: string;
}

// Returns the steps lost if the ranks cannot save; undefined if the ranks are expected to save.
function lossOf(job: Job, { verb, gerund }: SavingAction, nowMs: number): Loss | undefined {
  const { health } = job;
  if (!health || health.steps_at_risk === 0) return undefined;
  const work = workText(health, nowMs);
  const words = health.findings.map(({ word }) => word);
  if (words.includes('unsaved')) {
    return {
      text: `Checkpoints have failed ${sinceText(health)}: ${gerund} now loses ${work}.`,
      button: `${capitalized(verb)} and lose ${plural(health.steps_at_risk, 'step')}`,
    };
  }
  if (!words.includes('stalled')) return undefined;
  return {
    text: `The job is stalled and may be unable to save: ${gerund} now may lose ${work}.`,
    button: `${capitalized(verb)} job`,
  };
}

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

// Returns the steps that the checkpoint saved by the action keeps.
function keptText({ health }: Job): string {
  if (!health || health.steps_at_risk === 0) return '';
  const steps = plural(health.steps_at_risk, 'step');
  return health.saved_step > 0 ? ` with the ${steps} ${sinceText(health)}` : ` with all ${steps}`;
}

export function stopEffect(job: Job, nowMs: number): Effect {
  const loss = lossOf(job, STOP, nowMs);
  if (loss) {
    const text = 'The job still tries to save a checkpoint before it stops.';
    return { warning: loss.text, text, button: loss.button, danger: true };
  }
  const text =
    `The job saves a checkpoint${keptText(job)}, then stops. ` +
    '“Submit again” can continue from it.';
  return { warning: undefined, text, button: 'Save and stop', danger: false };
}

const NO_GRACE = 'Every rank receives SIGKILL immediately, without a checkpoint.';

export function killEffect(job: Job, nowMs: number): Effect {
  const effect = { text: NO_GRACE, button: 'Kill job', danger: true };
  const { health } = job;
  if (!health || health.word === 'unspecified' || !job.progress?.step) {
    const warning = newestAttempt(job) ? 'Progress since the last checkpoint is lost.' : undefined;
    return { ...effect, warning };
  }
  if (health.steps_at_risk > 0) {
    const warning = `Killing now loses ${workText(health, nowMs)} ${sinceText(health)}.`;
    return { ...effect, warning };
  }
  const kept = `No step is lost: the newest checkpoint contains step ${count(health.saved_step)}.`;
  return { ...effect, text: `${NO_GRACE} ${kept}`, warning: undefined };
}

export function pauseEffect(job: Job, nowMs: number): Effect & { verb: 'Hold' | 'Pause' } {
  if (job.state === 'queued' && newestAttempt(job) === undefined) {
    const text = 'The job leaves the queue until it is resumed.';
    return { verb: 'Hold', warning: undefined, text, button: 'Hold job', danger: false };
  }
  const loss = lossOf(job, PAUSE, nowMs);
  if (loss) {
    const text =
      'The job still tries to save a checkpoint, then releases its slots. After you resume the ' +
      'job, lost steps are redone.';
    return { verb: 'Pause', warning: loss.text, text, button: loss.button, danger: true };
  }
  const text =
    `The job saves a checkpoint${keptText(job)} and releases its slots. When you resume the job, ` +
    'it waits for free slots and continues from this checkpoint.';
  return { verb: 'Pause', warning: undefined, text, button: 'Save and pause', danger: false };
}

// Returns a text about where a paused or held job continues.
export function resumeText(job: Job): string {
  const queued = 'The job returns to its place in the queue.';
  const attempt = newestAttempt(job);
  const from = resumable(job);
  if (!from) {
    const path = job.spec?.checkpoint?.resume_from;
    return `${queued} It starts ${path ? `from ${path}` : 'at step 0'}.`;
  }
  const redone = (attempt?.last_step ?? 0) - from.step;
  const steps = `${plural(redone, 'step')} after it ${redone === 1 ? 'is' : 'are'}`;
  const again = redone > 0 ? ` The ${steps} redone.` : '';
  return `${queued} It continues from the checkpoint at step ${count(from.step)}.${again}`;
}
