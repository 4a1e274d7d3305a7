// The place in a log where a failed job states its error. Pure functions.
import type { Job } from '../api/types';
import { outputMember } from './gang';
import { newestAttempt } from './progress';

export interface FailedOutput {
  attempt: number;
  rank: number;
  // The line that describes the error; empty if the controller recognized none.
  errorLine: string;
}

// Returns the output of the rank that failed first; undefined if the job has not failed, or if no
// rank is at fault.
export function failedOutput(job: Job): FailedOutput | undefined {
  const attempt = newestAttempt(job);
  const verdict = job.verdict ?? attempt?.verdict;
  const failed = job.state === 'failed' || job.state === 'recovering';
  if (!failed || !attempt || !verdict || verdict.rank < 0) return undefined;
  const rank = outputMember(job, verdict);
  return { attempt: attempt.number, rank, errorLine: verdict.error_line };
}

// Parameters of the address that choose a part of the log.
const CHOICES = ['line', 'grep', 'level', 'attempt', 'from'];

// True if the address leaves open which part of the log to show, or chooses only the failed rank.
export function opensAtFailure(query: URLSearchParams, { rank }: FailedOutput): boolean {
  if (CHOICES.some((name) => query.has(name))) return false;
  return ['', String(rank)].includes(query.get('ranks') ?? '');
}
