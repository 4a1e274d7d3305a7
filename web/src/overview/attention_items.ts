// Finds what needs the attention of a person on duty: in the controller, in jobs and in nodes. The
// controller decides what is wrong; this file only selects and orders. Pure functions.
import type { GetServerInfoResponse, Job, Node } from '../api/types';
import { hasEnded } from '../api/live';
import { HEALTH_LOOK, JOB_LOOK, NO_CHANGES, lookOf, type StateLook } from '../format/words';
import { isSick, ranksAtFault, worstFinding, worstFirst, wordOf } from '../job/health';
import { failureOf, restartsText } from '../job/progress';
import { jobPath } from '../router/url';
import { hasProblem, problemsFirst } from './node_problems';

export interface AttentionItem {
  key: string;
  // The look of the badge; undefined for a node, which has a different badge.
  look?: StateLook;
  node?: Node;
  name: string;
  // The number after the name of a job.
  job?: number;
  href?: string;
  // One sentence about the item.
  text: string;
  // Start of the trouble; 0 if the start is unknown.
  sinceMs: number;
  // The time of a single event: the end of a failed job, or the last heartbeat of a node.
  atMs?: number;
  // The ranks at fault and the view that shows them.
  ranks?: { text: string; href: string };
}

export interface AttentionGroup {
  items: AttentionItem[];
  // URL of the page with all items of this kind. Only the first items are listed.
  all: string;
  // Name of several items, such as "failed jobs".
  plural: string;
}

export interface AttentionView {
  jobs: readonly Job[];
  nodes: readonly Node[];
  server: Pick<GetServerInfoResponse, 'storage_problems' | 'warnings'> | undefined;
  nowMs: number;
}

const RECENT_MS = 24 * 3_600_000;
// If a larger part of the restart budget is used, the rest is low. The alert RestartBudgetLow has
// the same rule.
const BUDGET_LOW_RATIO = 0.75;

const STORAGE: StateLook = { word: 'storage', tone: 'bad', icon: 'disk' };
const WARNING: StateLook = { word: 'warning', tone: 'warn', icon: 'warn' };
const BUDGET: StateLook = { word: 'restarts', tone: 'warn', icon: 'retry' };

function sickItem(job: Job): AttentionItem {
  const finding = worstFinding(job);
  const ranks = finding && ranksAtFault(finding);
  return {
    key: `sick ${job.id}`,
    look: lookOf(HEALTH_LOOK, wordOf(job)),
    name: job.name,
    job: job.id,
    href: jobPath(job.id),
    text: finding?.message ?? '',
    sinceMs: finding?.since_ms ?? 0,
    ...(finding && ranks
      ? { ranks: { text: ranks, href: `${jobPath(job.id, 'ranks')}?rank=${finding.ranks[0]}` } }
      : {}),
  };
}

function failedItem(job: Job): AttentionItem {
  return {
    key: `failed ${job.id}`,
    look: JOB_LOOK.failed,
    name: job.name,
    job: job.id,
    href: jobPath(job.id),
    text: failureOf(job) ?? '',
    sinceMs: 0,
    atMs: job.ended_time_ms,
  };
}

function failedJobs(jobs: readonly Job[], nowMs: number): AttentionItem[] {
  return jobs
    .filter((job) => job.state === 'failed' && nowMs - job.ended_time_ms <= RECENT_MS)
    .sort((a, b) => b.ended_time_ms - a.ended_time_ms)
    .map(failedItem);
}

// A looping job already says how much of its budget is used.
function isBudgetLow(job: Job): boolean {
  const budget = job.spec?.restart?.max_restarts ?? 0;
  const looping = job.health?.findings.some(({ word }) => word === 'looping');
  return !hasEnded(job) && !looping && budget > 0 && job.restarts > BUDGET_LOW_RATIO * budget;
}

function budgetItem(job: Job): AttentionItem {
  const left = (job.spec?.restart?.max_restarts ?? 0) - job.restarts;
  const then = left > 0 ? `${left} left before the job fails` : 'the next failure ends the job';
  return {
    key: `budget ${job.id}`,
    look: BUDGET,
    name: job.name,
    job: job.id,
    href: jobPath(job.id, 'timeline'),
    text: `${restartsText(job)} used; ${then}`,
    sinceMs: 0,
  };
}

function nodeItem(node: Node): AttentionItem {
  const away = node.state !== 'ready';
  const fault = node.health?.quarantine ?? node.health;
  const reason = away ? node.state_reason : fault?.reason || node.cordon_reason;
  return {
    key: `node ${node.id}`,
    node,
    name: node.name,
    href: `/nodes?node=${encodeURIComponent(node.name)}`,
    text: reason || 'no new ranks are placed here',
    sinceMs: away ? 0 : (fault?.since_ms ?? 0),
    ...(away ? { atMs: node.last_heartbeat_ms } : {}),
  };
}

function serverItems(server: AttentionView['server']): [AttentionItem[], AttentionItem[]] {
  const storage = (server?.storage_problems ?? []).map(({ store, message, since_ms: sinceMs }) => ({
    key: `storage ${store} ${message}`,
    look: STORAGE,
    name: `${store} store of the controller`,
    text: store === 'events' ? `${message}. ${NO_CHANGES}` : message,
    sinceMs,
  }));
  const warnings = (server?.warnings ?? []).map((text) => ({
    key: `warning ${text}`,
    look: WARNING,
    name: 'controller',
    text,
    sinceMs: 0,
  }));
  return [storage, warnings];
}

// Returns everything that needs attention, by kind, the most urgent kind first. Kinds without items
// are left out.
export function attentionGroups({ jobs, nodes, server, nowMs }: AttentionView): AttentionGroup[] {
  const [storage, warnings] = serverItems(server);
  const sick = worstFirst(jobs.filter(isSick)).map(sickItem);
  const troubled = problemsFirst(nodes).filter(hasProblem).map(nodeItem);
  const groups: AttentionGroup[] = [
    { items: storage, all: '/', plural: 'storage problems' },
    { items: sick, all: '/jobs', plural: 'sick jobs' },
    {
      items: failedJobs(jobs, nowMs),
      all: '/jobs?sort=ended&states=failed',
      plural: 'failed jobs',
    },
    { items: troubled, all: '/nodes', plural: 'nodes' },
    { items: jobs.filter(isBudgetLow).map(budgetItem), all: '/jobs', plural: 'restart budgets' },
    { items: warnings, all: '/', plural: 'warnings' },
  ];
  return groups.filter(({ items }) => items.length > 0);
}
