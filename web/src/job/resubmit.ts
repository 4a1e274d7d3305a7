// Derives the settings of a new job from an old one. Pure functions.
import type { Checkpoint, Job, JobSpec, Origin } from '../api/types';

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
}

export function specForNewJob(
  spec: JobSpec,
  origins: readonly Origin[],
  { name, resumeFrom }: NewJob,
): object {
  const kept = droppedKeys(origins).reduce(without, spec as object) as JobSpec;
  if (resumeFrom === undefined) return { ...kept, name };
  return { ...kept, name, checkpoint: { ...kept.checkpoint, resume_from: resumeFrom } };
}

const quotedForShell = (text: string) => text.replaceAll("'", "'\\''");

// Returns the equivalent command line. The name is not escaped, because a valid job name contains
// no quotes.
export function commandLineForNewJob(
  job: number,
  origins: readonly Origin[],
  { name, resumeFrom }: NewJob,
): string {
  const left = droppedKeys(origins).map((key) => `.${key}`);
  const from = JSON.stringify(resumeFrom ?? '');
  const resume = resumeFrom === undefined ? '' : ` | .checkpoint.resume_from = ${from}`;
  const filter = quotedForShell(`.spec | del(${left.join(', ')}) | .name = "${name}"${resume}`);
  const file = `${name || 'again'}.json`;
  const submit = `trainyard submit ${file} --cloned-from ${job}`;
  return `trainyard describe ${job} -o json | jq '${filter}' > ${file} && ${submit}`;
}

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
