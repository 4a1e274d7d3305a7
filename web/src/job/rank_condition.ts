// The condition of each rank of an attempt. The condition follows from the job's health findings,
// the attempt's verdict and the rank's state. The controller decides which rank is at fault. Pure
// functions.
import type { HealthFinding, Job, RankStatus } from '../api/types';
import { memberOf, verdictMembers } from './gang';
import { holdsPlace } from './rank_heat';

// The worst one comes first.
export const CONDITIONS = [
  'culprit',
  'failed',
  'waits',
  'unknown',
  'starting',
  'stopped',
  'ended',
  'exited',
  'well',
] as const;
export type Condition = (typeof CONDITIONS)[number];

export interface RankConditions {
  // Processes at fault, the worst first.
  culprits: readonly number[];
  // By number of the process.
  byRank: ReadonlyMap<number, Condition>;
}

type WithHealth = Pick<Job, 'attempts' | 'health'>;

// Returns the findings about the attempt, the worst first. Health describes only the newest
// attempt. A heal is left out, because the rank that has taken the place is not at fault.
export function findingsOf(job: WithHealth, attempt: number): HealthFinding[] {
  if (attempt !== job.attempts.at(-1)?.number) return [];
  return (job.health?.findings ?? []).filter(({ word }) => word !== 'healed');
}

// Returns the processes at the places that a finding names.
export const membersAtFault = (
  { ranks: places }: HealthFinding,
  ranks: readonly RankStatus[],
): number[] => places.map((rank) => memberOf(ranks, { rank, node_id: '' }));

const STATE_CONDITION: Record<RankStatus['state'], Condition> = {
  unspecified: 'unknown',
  starting: 'starting',
  running: 'well',
  exited: 'exited',
  failed: 'failed',
  ended: 'ended',
  stopped: 'stopped',
};

// In a stalled gang, and in a gang with a slow rank, all other ranks wait.
const makesOthersWait = ({ word, ranks }: HealthFinding): boolean =>
  word === 'stalled' || (word === 'slow' && ranks.length > 0);

function conditionOf(rank: RankStatus, gangWaits: boolean): Condition {
  const condition = STATE_CONDITION[rank.state] ?? 'unknown';
  if (condition !== 'well' || !holdsPlace(rank)) return condition;
  if (gangWaits) return 'waits';
  return rank.last_progress_ms > 0 ? 'well' : 'unknown';
}

export function conditionsOf(
  job: WithHealth,
  attempt: number,
  ranks: readonly RankStatus[],
): RankConditions {
  const findings = findingsOf(job, attempt);
  const named = findings.flatMap((finding) => membersAtFault(finding, ranks));
  const culprits = [...new Set([...named, ...verdictMembers(job, attempt, ranks)])];
  const gangWaits = findings.some(makesOthersWait);
  const byRank = new Map(ranks.map((rank) => [rank.rank, conditionOf(rank, gangWaits)]));
  for (const rank of culprits) byRank.set(rank, 'culprit');
  return { culprits, byRank };
}
