// The health of jobs, as the controller reports it. Pure functions that order and format the
// controller's findings; they do not judge a job.
import type { HealthFinding, HealthWord, Job } from '../api/types';
import { HEALTH_LOOK, JOB_LOOK, lookOf, type StateLook } from '../format/words';
import { duration } from '../format/time';

// Best first: the order in proto/trainyard/v1/health.proto.
const BEST_FIRST: readonly HealthWord[] = [
  'unspecified',
  'ok',
  'healed',
  'slow',
  'unsaved',
  'looping',
  'diverging',
  'stalled',
];

const severityOf = (word: HealthWord) => BEST_FIRST.indexOf(word);

export const wordOf = (job: Job): HealthWord => job.health?.word ?? 'unspecified';

// True if the health badge replaces the state of the job.
export const hasFinding = (job: Job) => severityOf(wordOf(job)) > severityOf('ok');

// True if somebody has to act.
export const isSick = (job: Job) => severityOf(wordOf(job)) > severityOf('healed');

// Returns the look of a job that needs attention; undefined for any other job.
export const attentionLook = (job: Job): StateLook | undefined =>
  isSick(job) ? lookOf(HEALTH_LOOK, wordOf(job)) : undefined;

// Sorts the jobs by health, worst first. Jobs of equal health keep their order.
export function worstFirst(jobs: readonly Job[]): Job[] {
  return [...jobs].sort((a, b) => severityOf(wordOf(b)) - severityOf(wordOf(a)));
}

export const worstFinding = (job: Job): HealthFinding | undefined => job.health?.findings[0];

// Returns "Rank 3 on node-6" for the ranks at fault; undefined if the finding names none.
export function ranksAtFault({ ranks, node }: HealthFinding): string | undefined {
  const [first, ...others] = ranks;
  if (first === undefined) return undefined;
  const place = node === '' ? '' : ` on ${node}`;
  return `Rank ${first}${place}${others.length > 0 ? ` and ${others.length} more` : ''}`;
}

// Returns "for 4m 12s"; an empty text if the time at which the trouble began is unknown.
export function sinceText(sinceMs: number, nowMs: number): string {
  return sinceMs > 0 ? `for ${duration(Math.max(0, nowMs - sinceMs) / 1000)}` : '';
}

// Returns the state and the worst finding in one line, as the title of a badge.
export function headline(job: Job): string | undefined {
  const finding = worstFinding(job);
  return finding && `${lookOf(JOB_LOOK, job.state).word}, ${finding.word}: ${finding.message}`;
}
