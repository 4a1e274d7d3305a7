// Processes that hold the places of a gang: a verdict names a place (a rank of the gang), and after
// a heal a process of a spare node holds it; lists and output go by process.
import type { Job, Verdict } from '../api/types';

// A process, as an attempt and its list of ranks tell of it.
export interface Member {
  rank: number;
  node_id: string;
  place?: number | null;
  standby: boolean;
  replaced: boolean;
}

// The process that a verdict names. Of those that have held the place it is the one on the
// verdict's node: a heal that is abandoned ends with the verdict on the process that was to be
// replaced. The place itself where the list has none, as of old attempts.
export function memberOf(
  members: readonly Member[],
  { rank: place, node_id: node }: Pick<Verdict, 'rank' | 'node_id'>,
): number {
  const holders = members.filter(
    ({ rank, place: held, standby }) => (held ?? (standby ? undefined : rank)) === place,
  );
  const blamed = holders.findLast(({ node_id: own }) => own === node);
  return (blamed ?? holders.find(({ replaced }) => !replaced))?.rank ?? place;
}

// The process that the verdict of an attempt names; undefined where it names none.
export function verdictMember(
  job: Pick<Job, 'attempts'>,
  attempt: number,
  members: readonly Member[],
): number | undefined {
  const verdict = job.attempts.find(({ number }) => number === attempt)?.verdict;
  const harmless = !verdict || verdict.cause === 'completed' || verdict.cause === 'stopped';
  return harmless || verdict.rank < 0 ? undefined : memberOf(members, verdict);
}

// The process whose last lines a verdict of the job's newest attempt holds.
export function outputMember(
  job: Pick<Job, 'attempts'>,
  verdict: Pick<Verdict, 'rank' | 'node_id'>,
): number {
  const newest = job.attempts[job.attempts.length - 1];
  const named = { ...verdict, rank: Math.max(0, verdict.rank) };
  return memberOf(newest?.ranks ?? [], named);
}
