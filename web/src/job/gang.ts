// Finds the process that occupies a place of a gang. A verdict names a place, which is a rank of
// the gang, but lists and output are keyed by process. Place and process number differ after a
// heal, which gives the place to a process of a spare node.
import type { Job, Verdict } from '../api/types';

// The fields of a process that both an attempt and its list of ranks contain.
export interface Member {
  rank: number;
  node_id: string;
  place?: number | null;
  standby: boolean;
  replaced: boolean;
}

// Returns the process that a verdict means: among those that have occupied the place, the one on
// the verdict's node. If a heal was abandoned, this is the process that was to be replaced. If no
// process is listed for the place, as in old attempts, returns the number of the place.
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

// Returns the processes that an attempt's verdict blames, the worst first. If the ranks lost a
// peer, the verdict lists the ranks that they waited for. Those ranks are blamed instead of the
// rank that exited.
export function verdictMembers(
  job: Pick<Job, 'attempts'>,
  attempt: number,
  members: readonly Member[],
): number[] {
  const verdict = job.attempts.find(({ number }) => number === attempt)?.verdict;
  const planned = ['completed', 'stopped', 'time_limit'];
  if (!verdict || planned.includes(verdict.cause)) return [];
  const places = verdict.ranks.length > 0 ? verdict.ranks : [verdict.rank];
  return places
    .filter((place) => place >= 0)
    .map((rank) => memberOf(members, { rank, node_id: verdict.node_id }));
}

// Returns the process whose last output lines `verdict` contains. The process belongs to the job's
// newest attempt.
export function outputMember(
  job: Pick<Job, 'attempts'>,
  verdict: Pick<Verdict, 'rank' | 'node_id'>,
): number {
  const newest = job.attempts[job.attempts.length - 1];
  const named = { ...verdict, rank: Math.max(0, verdict.rank) };
  return memberOf(newest?.ranks ?? [], named);
}
