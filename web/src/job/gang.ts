// Processes that hold the places of a gang. A verdict names a place (a rank of the gang). After a
// heal, the place is held by a process of a spare node. Lists and output are keyed by process.
import type { Job, Verdict } from '../api/types';

// A process, as an attempt and its list of ranks describe it.
export interface Member {
  rank: number;
  node_id: string;
  place?: number | null;
  standby: boolean;
  replaced: boolean;
}

// The process named by a verdict: among those that have held the place, the one on the verdict's
// node. The verdict of an abandoned heal names the process that was to be replaced. Returns the
// place itself if the list has no process for it, as in old attempts.
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

// The process named by an attempt's verdict; undefined if it names none.
export function verdictMember(
  job: Pick<Job, 'attempts'>,
  attempt: number,
  members: readonly Member[],
): number | undefined {
  const verdict = job.attempts.find(({ number }) => number === attempt)?.verdict;
  const harmless = !verdict || verdict.cause === 'completed' || verdict.cause === 'stopped';
  return harmless || verdict.rank < 0 ? undefined : memberOf(members, verdict);
}

// The process whose last lines are in the verdict of the job's newest attempt.
export function outputMember(
  job: Pick<Job, 'attempts'>,
  verdict: Pick<Verdict, 'rank' | 'node_id'>,
): number {
  const newest = job.attempts[job.attempts.length - 1];
  const named = { ...verdict, rank: Math.max(0, verdict.rank) };
  return memberOf(newest?.ranks ?? [], named);
}
