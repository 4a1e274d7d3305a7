// The trouble of each rank of an attempt, from the findings of the job's health, the attempt's
// verdict and the states of its ranks. The controller decides which rank is at fault. Pure functions.
import type { HealthFinding, Job, RankStatus } from '../api/types';
import { memberOf, verdictMembers } from './gang';
import { holdsPlace } from './rank_heat';

// The worst trouble comes first.
export const TROUBLES = [
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
export type Trouble = (typeof TROUBLES)[number];

export interface RankTroubles {
  // Processes at fault, the worst first.
  culprits: readonly number[];
  // By number of the process.
  byRank: ReadonlyMap<number, Trouble>;
}

// Returns the findings about the attempt, the worst first. Health describes only the newest attempt.
// A heal is not a trouble of the rank that has taken the place.
export function findingsOf(job: Pick<Job, 'attempts' | 'health'>, attempt: number): HealthFinding[] {
  if (attempt !== job.attempts.at(-1)?.number) return [];
  return (job.health?.findings ?? []).filter(({ word }) => word !== 'healed');
}

// Returns the processes at the places that a finding names.
export const membersAtFault = (
  { ranks: places }: HealthFinding,
  ranks: readonly RankStatus[],
): number[] => places.map((rank) => memberOf(ranks, { rank, node_id: '' }));

const STATE_TROUBLE: Record<RankStatus['state'], Trouble> = {
  unspecified: 'unknown',
  starting: 'starting',
  running: 'well',
  exited: 'exited',
  failed: 'failed',
  ended: 'ended',
  stopped: 'stopped',
};

// In a stalled gang, and in one with a slow rank, all other ranks wait.
const makesOthersWait = ({ word, ranks }: HealthFinding): boolean =>
  word === 'stalled' || (word === 'slow' && ranks.length > 0);

function troubleOf(rank: RankStatus, gangWaits: boolean): Trouble {
  const trouble = STATE_TROUBLE[rank.state] ?? 'unknown';
  if (trouble !== 'well' || !holdsPlace(rank)) return trouble;
  if (gangWaits) return 'waits';
  return rank.last_progress_ms > 0 ? 'well' : 'unknown';
}

export function troublesOf(
  job: Pick<Job, 'attempts' | 'health'>,
  attempt: number,
  ranks: readonly RankStatus[],
): RankTroubles {
  const findings = findingsOf(job, attempt);
  const named = findings.flatMap((finding) => membersAtFault(finding, ranks));
  const culprits = [...new Set([...named, ...verdictMembers(job, attempt, ranks)])];
  const gangWaits = findings.some(makesOthersWait);
  const byRank = new Map(ranks.map((rank) => [rank.rank, troubleOf(rank, gangWaits)]));
  for (const rank of culprits) byRank.set(rank, 'culprit');
  return { culprits, byRank };
}
