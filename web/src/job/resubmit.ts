// Derives the settings of a new job from an old one. Pure functions.
import type { Checkpoint, Job, JobSpec, Origin } from '../api/types';
import { quoted } from '../format/shell';

// Returns the keys that apply only to the old job: values derived by the controller, and recipes,
// which are already resolved. A derived value is, for example, the checkpoint directory, which two
// jobs must not share.
export function droppedKeys(origins: readonly Origin[]): string[] {
  const derived = origins.filter(({ source }) => source === 'derived').map(({ key }) => key);
  return ['extends', ...derived];
}

// Returns a copy without a key such as "a.b.c", which may be missing.
function without(value: object, key: string): object {
  const [first = '', ...rest] = key.split('.');
  if (!(first in value)) return value;
  const copy: Record<string, unknown> = { ...value };
  const inner = copy[first];
  if (rest.length === 0) delete copy[first];
  else if (typeof inner === 'object' && inner !== null) {
    copy[first] = without(inner, rest.join('.'));
  }
  return copy;
}

// True if the files of the checkpoint are there and sound.
export const canStartFrom = ({ deleted, damaged }: Checkpoint): boolean => !deleted && !damaged;

// Returns the newest checkpoint from which a new job should start. A user may choose a checkpoint
// that was rolled back; the dashboard does not.
export function resumable(job: Pick<Job, 'checkpoints'>): Checkpoint | undefined {
  return job.checkpoints
    .filter((checkpoint) => canStartFrom(checkpoint) && !checkpoint.rolled_back)
    .reduce<Checkpoint | undefined>(
      (best, one) => (best && best.step >= one.step ? best : one),
      undefined,
    );
}

export interface NewJob {
  name: string;
  // Directory of the checkpoint to start from; undefined: start as the old job did.
  resumeFrom: string | undefined;
  // Changed settings, one per line, such as "optimizer.lr=3e-4".
  changes: string;
}

export function specForNewJob(spec: JobSpec, origins: readonly Origin[]): object {
  return droppedKeys(origins).reduce(without, spec as object);
}

// Returns the settings of the new job that differ, each as KEY=VALUE.
export function overridesOf({ name, resumeFrom, changes }: NewJob): string[] {
  const resume = resumeFrom === undefined ? [] : [`checkpoint.resume_from=${resumeFrom}`];
  const lines = changes.split('\n').map((line) => line.trim());
  return [`name=${name}`, ...resume, ...lines.filter((line) => line !== '')];
}

const isPlain = (text: string) => /^[\w./=,:+-]*$/.test(text);

export const cloneCommand = (job: number, newJob: NewJob): string =>
  ['trainyard clone', job, ...overridesOf(newJob).map((one) => (isPlain(one) ? one : quoted(one)))]
    .join(' ');

// Returns an id by which the controller recognizes a repeated submission, so that two submissions
// with the same id create only one job.
export function newRequestId(job: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `web-${job}-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

const NAME = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/;

// Returns why a job cannot have this name; undefined if it can.
export const nameProblem = (name: string): string | undefined =>
  NAME.test(name)
    ? undefined
    : 'Use lowercase letters and digits. The characters . _ - are allowed between them.';
