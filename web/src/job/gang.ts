// Processes that hold the places of a gang: a verdict names a place (a rank of the gang), and after
// a heal a process of a spare node holds it; lists and output go by process.
import type { Job, Verdict } from '../api/types';

// A process, as an attempt and its list of ranks tell of it.
export interface Member {
  rank: number;
  place?: number | null;
  standby: boolean;
  replaced: boolean;
}

// The process that holds the place; the place itself where the list has none, as of old attempts.
export function memberAt(members: readonly Member[], place: number): number {
  const holder = members.find(
    ({ rank, place: held, standby, replaced }) =>
      !replaced && (held ?? (standby ? undefined : rank)) === place,
  );
  return holder?.rank ?? place;
}

// The process that the verdict of an attempt names; undefined where it names none.
export function verdictMember(
  job: Pick<Job, 'attempts'>,
  attempt: number,
  members: readonly Member[],
): number | undefined {
  const verdict = job.attempts.find(({ number }) => number === attempt)?.verdict;
  const harmless = !verdict || verdict.cause === 'completed' || verdict.cause === 'stopped';
  return harmless || verdict.rank < 0 ? undefined : memberAt(members, verdict.rank);
}

// The process whose last lines a verdict of the job's newest attempt holds.
export function outputMember(job: Pick<Job, 'attempts'>, verdict: Pick<Verdict, 'rank'>): number {
  const newest = job.attempts[job.attempts.length - 1];
  return memberAt(newest?.ranks ?? [], Math.max(0, verdict.rank));
}
