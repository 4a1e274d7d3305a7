// The entries of the palette: pages, jobs, nodes, views of jobs, and actions. Pure functions.
import type { Job, Node } from '../api/types';
import { hasEnded } from '../api/live';
import { tabsOf } from '../job/job_tabs';
import { jobPath, nodePath } from '../router/url';
import { jobSubject, nodeSubject } from './asked_action';
import { matching } from './matching';

export interface Entry {
  kind: 'page' | 'job' | 'node' | 'view' | 'action';
  text: string;
  // Further text by which the entry is found.
  words?: string;
  href: string;
  job?: Job;
  node?: Node;
  // For actions: the dialog that the page at `href` opens.
  asks?: { subject: string; action: string };
}

export interface Known {
  jobs: readonly Job[];
  nodes: readonly Node[];
  // The job of the open page. Its views and actions are listed first.
  openJob: number | undefined;
  // False while the controller is unreachable or does not offer the actions.
  canAct: boolean;
}

const PAGES: Entry[] = [
  { kind: 'page', text: 'Overview', href: '/' },
  { kind: 'page', text: 'Jobs', href: '/jobs' },
  { kind: 'page', text: 'Queue', href: '/queue' },
  { kind: 'page', text: 'Nodes', href: '/nodes' },
  { kind: 'page', text: 'Compare', href: '/compare' },
  { kind: 'page', text: 'Planner', href: '/planner' },
  {
    kind: 'page',
    text: 'Usage',
    words: 'GPU-hours cost by user job week',
    href: '/usage',
  },
  { kind: 'page', text: 'Events', href: '/events' },
  { kind: 'page', text: 'New job', words: 'submit recipe', href: '/submit' },
];

const nameOf = (job: Job) => `${job.name} #${job.id}`;
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

export const jobEntry = (job: Job): Entry => ({
  kind: 'job',
  text: nameOf(job),
  words: job.health?.word ?? '',
  href: jobPath(job.id),
  job,
});

const nodeEntry = (node: Node): Entry => ({
  kind: 'node',
  text: node.name,
  words: node.id,
  href: nodePath(node.id),
  node,
});

const viewsOf = (job: Job): Entry[] =>
  tabsOf(job).map((tab) => ({
    kind: 'view',
    text: `${capital(tab)} of ${nameOf(job)}`,
    href: jobPath(job.id, tab),
  }));

function actionNames(job: Job): string[] {
  if (hasEnded(job)) return ['again'];
  if (job.state === 'stopping') return ['kill', 'again'];
  const paused = ['pausing', 'paused', 'held'].includes(job.state);
  return ['stop', paused ? 'resume' : 'pause', 'kill', 'again'];
}

const actionsOf = (job: Job): Entry[] =>
  actionNames(job).map((action) => ({
    kind: 'action',
    text: action === 'again' ? `Submit ${nameOf(job)} again` : `${capital(action)} ${nameOf(job)}`,
    words: job.health?.word ?? '',
    href: jobPath(job.id),
    asks: { subject: jobSubject(job.id), action },
  }));

const cordonOf = (node: Node): Entry => ({
  kind: 'action',
  text: `${node.cordoned ? 'Uncordon' : 'Cordon'} ${node.name}`,
  words: node.id,
  href: nodePath(node.id),
  asks: { subject: nodeSubject(node.id), action: 'cordon' },
});

function allEntries({ jobs, nodes, openJob, canAct }: Known): Entry[] {
  const openFirst = [
    ...jobs.filter(({ id }) => id === openJob),
    ...jobs.filter(({ id }) => id !== openJob),
  ];
  return [
    ...PAGES,
    ...jobs.map(jobEntry),
    ...nodes.map(nodeEntry),
    ...(canAct ? [...openFirst.flatMap(actionsOf), ...nodes.map(cordonOf)] : []),
    ...openFirst.flatMap(viewsOf),
  ];
}

// Returns the entries that match the text. Without a text, returns pages and jobs.
export function entriesFor(text: string, known: Known): Entry[] {
  if (text.trim() === '') return [...PAGES, ...known.jobs.map(jobEntry)];
  return matching(allEntries(known), (entry) => `${entry.text} ${entry.words ?? ''}`, text);
}
