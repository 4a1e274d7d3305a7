// Actions on several jobs: what each job loses or keeps, and the requests. Does not use the DOM.
import { asRequestError, type RequestError } from '../api/client';
import { hasEnded } from '../api/live';
import type { Job } from '../api/types';
import { plural } from '../format/numbers';
import { killEffect, pauseEffect, stopEffect } from '../job/action_effects';

export type BulkAction = 'stop' | 'kill' | 'pause' | 'resume';

export const BULK_ACTIONS: readonly BulkAction[] = ['pause', 'resume', 'stop', 'kill'];

// One job of a bulk action.
export interface BulkLine {
  job: Job;
  // Why the action does not apply to the job, which stays unchanged; undefined if it applies.
  refusal: string | undefined;
  // The harm that the action does; undefined if no harm is expected.
  warning: string | undefined;
  text: string;
  // Number of steps that are lost.
  lostSteps: number;
}

const PAUSED: readonly Job['state'][] = ['pausing', 'paused', 'held'];

// Returns why the action does not apply to the job.
function refusalOf(action: BulkAction, job: Job): string | undefined {
  if (hasEnded(job)) return `has ended (${job.state})`;
  const isPaused = PAUSED.includes(job.state);
  if (action === 'resume') return isPaused ? undefined : 'is not paused';
  if (action === 'pause' && isPaused) return `is already ${job.state}`;
  if (action !== 'kill' && job.state === 'stopping') return 'is already stopping';
  return undefined;
}

// A job in a list has no checkpoints, so the step at which it continues is unknown here.
const RESUMED =
  'Returns to its place in the queue and continues from its newest checkpoint, if it has one.';

function effectOf(action: BulkAction, job: Job, nowMs: number) {
  switch (action) {
    case 'stop':
      return stopEffect(job, nowMs);
    case 'kill':
      return killEffect(job, nowMs);
    case 'pause':
      return pauseEffect(job, nowMs);
    case 'resume':
      return { warning: undefined, text: RESUMED };
  }
}

export function bulkLine(action: BulkAction, job: Job, nowMs: number): BulkLine {
  const refusal = refusalOf(action, job);
  if (refusal) return { job, refusal, warning: undefined, text: '', lostSteps: 0 };
  const { warning, text } = effectOf(action, job, nowMs);
  const lostSteps = warning ? (job.health?.steps_at_risk ?? 0) : 0;
  return { job, refusal, warning, text, lostSteps };
}

// Returns the lines with losses first, then the other jobs, then the jobs that the action does not
// apply to.
export function bulkLines(action: BulkAction, jobs: readonly Job[], nowMs: number): BulkLine[] {
  const rank = ({ refusal, warning }: BulkLine) => (refusal ? 2 : warning ? 0 : 1);
  return jobs
    .map((job) => bulkLine(action, job, nowMs))
    .sort((a, b) => rank(a) - rank(b) || b.lostSteps - a.lostSteps);
}

// Returns the harm of all lines together; undefined if there is none.
export function bulkWarning(action: BulkAction, lines: readonly BulkLine[]): string | undefined {
  const harmed = lines.filter(({ warning }) => warning);
  if (harmed.length === 0) return undefined;
  const steps = harmed.reduce((sum, { lostSteps }) => sum + lostSteps, 0);
  const loss = steps > 0 ? `up to ${plural(steps, 'step')}` : 'progress';
  if (harmed.length === 1) return `1 job loses ${loss} if you ${action} it now.`;
  return `${plural(harmed.length, 'job')} lose ${loss} if you ${action} them now.`;
}

export const bulkCommand = (action: BulkAction, lines: readonly BulkLine[]): string =>
  `trainyard ${action} ${lines.map(({ job }) => job.id).join(' ')}` +
  (action === 'kill' ? ' -y' : '');

export type BulkResult = 'sending' | 'done' | RequestError;

const PARALLEL = 4;

interface Sending {
  send: (job: Job) => Promise<void>;
  onResult: (id: number, result: BulkResult) => void;
  // When aborted, no further request is sent.
  signal: AbortSignal;
}

// Sends a request for each job, a few at a time. A failed request does not stop the other requests.
export async function sendToAll(jobs: readonly Job[], how: Sending): Promise<void> {
  const waiting = [...jobs];
  const sendNext = async (): Promise<void> => {
    const job = waiting.shift();
    if (!job || how.signal.aborted) return;
    how.onResult(job.id, 'sending');
    try {
      await how.send(job);
      how.onResult(job.id, 'done');
    } catch (failure) {
      how.onResult(job.id, asRequestError(failure));
    }
    await sendNext();
  };
  await Promise.all(Array.from({ length: PARALLEL }, sendNext));
}
