// The frame that all pages share: navigation, connection, keys and dialogs.
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { refusal } from './api/session';
import { connected, jobList, live, nodeList, stale } from './api/store';
import { attentionLook, worstFirst } from './job/health';
import { Link, navigate, place } from './router/router';
import type { Place } from './router/url';
import { useRetry } from './ui/retry';
import { Connection } from './ui/connection';
import { KeyHelp } from './ui/help';
import { Icon } from './ui/icon';
import { idle } from './ui/idle';
import { focusSearch, moveRow, useKeys } from './ui/keyboard';
import { Empty, Skeleton } from './ui/notice';
import { LogOut, NoAccess } from './ui/no_access';
import { Palette } from './ui/palette';
import { usePageTitle } from './ui/page_title';
import { StorageProblems } from './ui/storage_problems';
import { Overview } from './overview/overview';

const shown = signal<'none' | 'help' | 'palette'>('none');

type Page = ComponentType<Record<string, never>>;
const LOADERS: Record<string, () => Promise<Page>> = {
  jobs: () => import('./jobs/jobs').then((m) => m.Jobs),
  queue: () => import('./cluster_pages').then((m) => m.Queue),
  nodes: () => import('./cluster_pages').then((m) => m.Nodes),
  node: () => import('./cluster_pages').then((m) => m.NodePage),
  compare: () => import('./compare/compare').then((m) => m.Compare),
  events: () => import('./events/events').then((m) => m.Events),
  planner: () => import('./planner/planner').then((m) => m.Planner),
  submit: () => import('./submit/submit').then((m) => m.Submit),
  usage: () => import('./cluster_pages').then((m) => m.Usage),
  job: () => import('./job/job').then((m) => m.JobPage),
};
// Pages that are useless without the controller, so their code is loaded only when they are opened.
const ONLY_WHEN_OPENED = ['submit'];
const loaded = new Map<string, Page>([['overview', Overview]]);
const loading = new Map<string, Promise<Page>>();

// Requests the code of a page, at most once. The caller must handle a failure.
export function loadPage(name: string): Promise<Page> | undefined {
  const load = LOADERS[name];
  if (!load) return undefined;
  const begun = loading.get(name);
  if (begun) return begun;
  const page = load().then((component) => {
    loaded.set(name, component);
    return component;
  });
  page.catch(() => loading.delete(name));
  loading.set(name, page);
  return page;
}

// Loads the code of all pages, one after the other while the browser is idle, so that the pages
// open even while the controller is away.
async function loadAllPages(): Promise<void> {
  const names = Object.keys(LOADERS).filter((name) => !ONLY_WHEN_OPENED.includes(name));
  for (const name of names) {
    await idle();
    // After a failure, the page requests its code again when it is opened.
    await loadPage(name)?.catch(() => undefined);
  }
}

function NotFound() {
  return (
    <Empty title="Page not found">
      <Link href="/">Go to the overview</Link>
    </Empty>
  );
}

// Loads the code of a page when the page is opened. The overview's code is always loaded.
function Content({ at }: { at: Place }) {
  const [, redraw] = useState(0);
  const [failed, setFailed] = useState(false);
  const page = loaded.get(at.page);
  const known = at.page in LOADERS;
  const load = () =>
    loadPage(at.page)?.then(
      () => redraw((n) => n + 1),
      () => setFailed(true),
    );
  useLayoutEffect(() => {
    setFailed(false);
    if (!page) load();
  }, [at.page]);
  // Reloads the whole page, because a newer controller serves the code under new file names.
  useRetry(undefined, () => {
    if (failed && !page) location.reload();
  });
  if (page) {
    const Component = page;
    return <Component />;
  }
  if (!known) return <NotFound />;
  if (!failed) return <Skeleton rows={6} height={28} />;
  return (
    <Empty title="This page could not be loaded">
      <button type="button" onClick={() => location.reload()}>
        Reload
      </button>
    </Empty>
  );
}

const NAVIGATION = [
  { href: '/', pages: ['overview'], name: 'Overview' },
  { href: '/jobs', pages: ['jobs', 'job', 'submit'], name: 'Jobs' },
  { href: '/queue', pages: ['queue'], name: 'Queue' },
  { href: '/nodes', pages: ['nodes', 'node'], name: 'Nodes' },
  { href: '/compare', pages: ['compare'], name: 'Compare' },
  { href: '/planner', pages: ['planner'], name: 'Planner' },
  { href: '/usage', pages: ['usage'], name: 'Usage' },
  { href: '/events', pages: ['events'], name: 'Events' },
];

function countFor(name: string): number | undefined {
  if (name === 'Jobs') return live.value.jobs && live.value.placed;
  if (name === 'Queue') return live.value.jobs && live.value.waiting;
  if (name === 'Nodes') return nodeList.value?.length;
  return undefined;
}

function Navigation({ at }: { at: Place }) {
  return (
    <nav class="pages" aria-label="Pages">
      {NAVIGATION.map(({ href, pages, name }) => {
        const amount = countFor(name);
        return (
          <Link key={href} href={href} aria-current={pages.includes(at.page) ? 'page' : undefined}>
            {name}
            {amount !== undefined && amount > 0 && <span class="count">{amount}</span>}
          </Link>
        );
      })}
    </nav>
  );
}

const open = (what: 'help' | 'palette') => () => {
  shown.value = what;
};

function useGlobalKeys(): void {
  useKeys({
    'g o': () => navigate('/'),
    'g j': () => navigate('/jobs'),
    'g q': () => navigate('/queue'),
    'g n': () => navigate('/nodes'),
    'g c': () => navigate('/compare'),
    'g p': () => navigate('/planner'),
    'g u': () => navigate('/usage'),
    'g e': () => navigate('/events'),
    j: () => moveRow(1),
    k: () => moveRow(-1),
    '/': () => focusSearch() || open('palette')(),
    '?': open('help'),
    'Ctrl-K': open('palette'),
  });
}

// Shows the worst health of all jobs in the title. The pages of a job, of a node and of a new job
// set their own titles.
function Title({ at }: { at: Place }) {
  const own = ['job', 'node', 'submit'].includes(at.page);
  const name = NAVIGATION.find(({ pages }) => !own && pages.includes(at.page))?.name;
  const worst = worstFirst(jobList.value ?? [])[0];
  usePageTitle(name, worst && attentionLook(worst));
  return null;
}

// Moves the focus past the actions, tabs and tools of a job's page.
function focusChart(event: MouseEvent): void {
  const chart = document.querySelector<HTMLElement>('main .chart');
  if (!chart) return;
  event.preventDefault();
  chart.focus();
}

export function App() {
  const { value } = refusal;
  return value ? <NoAccess refusal={value} /> : <Frame />;
}

function Frame() {
  const at = place.value;
  useGlobalKeys();
  useEffect(() => {
    if (connected.value) void loadAllPages();
  }, [connected.value]);
  const close = () => {
    shown.value = 'none';
  };
  return (
    <>
      <Title at={at} />
      <a class="skip" href="#main">
        Skip to content
      </a>
      {at.page === 'job' && at.tab === 'curves' && (
        <a class="skip" href="#main" onClick={focusChart}>
          Skip to the first chart
        </a>
      )}
      <header class="top">
        <Link href="/" class="brand" aria-label="Trainyard, overview">
          <img src="/icon.svg" alt="" width="18" height="18" />
          <span>Trainyard</span>
        </Link>
        <Navigation at={at} />
        <div class="top-end">
          <button
            type="button"
            class="find"
            onClick={open('palette')}
            title="Find a job, node, page or action"
          >
            <Icon name="search" />
            <span class="find-word">Find</span>
            <kbd>Ctrl K</kbd>
          </button>
          <Connection />
          <button
            type="button"
            class="quiet keys"
            onClick={open('help')}
            aria-label="Keyboard shortcuts"
          >
            ?
          </button>
          <LogOut />
        </div>
      </header>
      <main id="main" class={stale.value ? 'stale' : ''} tabIndex={-1}>
        {at.page !== 'overview' && <StorageProblems />}
        <Content at={at} />
      </main>
      {shown.value === 'help' && <KeyHelp onClose={close} />}
      {shown.value === 'palette' && <Palette onClose={close} />}
    </>
  );
}
