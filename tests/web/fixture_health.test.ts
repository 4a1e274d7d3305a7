// Tests how pages show the health of jobs and the list of problems. Uses the fixture server.
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { violationsOf } from './axe';
import { PHONE, WIDE, launch, openPage, type OpenPage, type Theme } from './browser';
import { FINDINGS, FIRST_SICK_JOB, findingOf, healthCluster } from './fixture_health';
import { FixtureServer } from './fixture_server';
import { MINUTE, NOW, busyCluster, emptyCluster } from './fixtures';

let browser: Browser;
let server: FixtureServer;
let open: OpenPage | undefined;

async function visit(path: string, viewport = WIDE, theme: Theme = 'light'): Promise<Page> {
  open = await openPage(browser, server.url + path, theme, viewport);
  return open.page;
}

const jobOf = (name: string) => server.cluster.jobs.find((job) => job.name === name)!;
const attention = (page: Page) => page.getByRole('region', { name: 'Needs attention' });
const words = async (badges: Locator) =>
  (await badges.allTextContents()).map((text) => text.trim());
const SICK_WORST_FIRST = ['stalled', 'diverging', 'looping', 'unsaved', 'slow'];

// Publishes repeatedly until the page shows the change, because the page's stream may be
// reconnecting to get the topics of the job.
async function publishUntil(name: string, shown: () => Promise<boolean>): Promise<void> {
  const published = () => {
    server.publish(jobOf(name));
    return shown();
  };
  await expect.poll(published, { timeout: 30_000 }).toBe(true);
}

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());
beforeEach(async () => {
  server = new FixtureServer(healthCluster());
  await server.start();
});
afterEach(async () => {
  await open?.context.close();
  expect(open?.complaints).toEqual([]);
  open = undefined;
  await server.stop();
});

describe('the overview', () => {
  it('begins with the sick jobs, the worst first', async () => {
    const page = await visit('/');
    const items = attention(page).getByRole('listitem');
    await items.first().waitFor();
    expect(await words(attention(page).locator('.badge'))).toEqual(SICK_WORST_FIRST);
    const first = items.first();
    await first.getByText(/rank 3 has not reached all-reduce 1380/).waitFor();
    await first.getByText(/^for 4m \d\ds$/).waitFor();
    await first.getByRole('link', { name: 'Rank 3 on gpu04' }).click();
    await page.waitForURL(/\/jobs\/56\/ranks\?rank=3$/);
  });

  it('has the words in its rows, sick jobs first, and none for a healthy job', async () => {
    const page = await visit('/');
    const rows = page.getByRole('region', { name: 'Running' }).locator('.run');
    await rows.first().waitFor();
    expect(await words(rows.locator('.badge'))).toEqual([...SICK_WORST_FIRST, 'healed']);
    const well = rows.filter({ hasText: 'ok-run' });
    expect(await well.locator('.badge').count()).toBe(0);
    const title = await rows.first().locator('.badge').getAttribute('title');
    expect(title).toMatch(/^running, stalled: rank 3 has not reached/);
  });

  it('shows no rate and no time left of a stalled job', async () => {
    const page = await visit('/');
    const row = page.locator('.run', { hasText: 'stalled-run' });
    await row.getByText('— tokens/s').waitFor();
    await row.getByText('— left').waitFor();
  });

  it('says in one line that all is well', async () => {
    server.cluster.jobs = server.cluster.jobs.filter(({ name }) => /^(ok|healed)-run/.test(name));
    const page = await visit('/');
    await attention(page).getByText('All is well: 2 jobs running, 4 nodes ready.').waitFor();
    expect(await attention(page).getByRole('listitem').count()).toBe(0);
  });

  it('does not say so once the controller is away', async () => {
    server.cluster.jobs = [jobOf('ok-run')];
    const page = await visit('/');
    await attention(page).getByText('All is well').waitFor();
    await server.stop();
    await attention(page).getByText(/^All was well .*, at the last update/).waitFor();
  });

  it('follows the stream', async () => {
    const page = await visit('/');
    const row = attention(page).getByRole('listitem').filter({ hasText: 'ok-run' });
    await attention(page).getByRole('listitem').first().waitFor();
    expect(await row.count()).toBe(0);
    const job = jobOf('ok-run');
    job.health = {
      word: 'unsaved',
      findings: [findingOf('unsaved')],
      steps_at_risk: 40,
      saved_step: 0,
      at_risk_since_ms: 0,
    };
    await publishUntil('ok-run', async () => (await row.count()) === 1);
  });

  it('lists failed jobs, nodes, restart budgets and problems of the controller', async () => {
    server.cluster = busyCluster();
    const { jobs, nodes } = server.cluster;
    const running = jobs.find(({ id }) => id === 42)!;
    running.restarts = 19;
    running.spec!.restart = { max_restarts: 20, rules: [] };
    const message = 'disk is full; free disk space';
    server.cluster.storageProblems = [{ store: 'events', message, since_ms: NOW - 2 * MINUTE }];
    server.cluster.warnings = ['port 7070 is open to anybody'];
    const page = await visit('/');
    const shown = attention(page);
    await shown.getByRole('alert').filter({ hasText: message }).waitFor();
    expect(await words(shown.locator('.badge'))).toEqual([
      'storage',
      'failed',
      'lost',
      'cordoned',
      'restarts',
      'warning',
    ]);
    await shown.getByText('rank 0 on gpu03 exited with 65').waitFor();
    await shown.getByText('19 of 20 restarts used; 1 left before the job fails').waitFor();
    await shown.getByRole('link', { name: nodes[5]!.name }).click();
    await page.waitForURL(/\/nodes\?node=gpu06/);
  });

  it('lists the first of many, with a link to the others', async () => {
    const { nodes } = server.cluster;
    for (const index of [5, 6, 7, 8, 9, 10, 11, 12]) {
      nodes.push({ ...nodes[0]!, id: `n${index}`, name: `n${index}`, word: 'cordoned' });
    }
    const page = await visit('/');
    await attention(page).getByRole('link', { name: '2 more nodes' }).click();
    await page.waitForURL(/\/nodes$/);
  });

  it('shows the first steps of a new cluster instead', async () => {
    server.cluster = emptyCluster();
    const page = await visit('/');
    await page.getByRole('heading', { name: 'First steps' }).waitFor();
    expect(await attention(page).count()).toBe(0);
  });
});

describe('the list of jobs', () => {
  it('has sick jobs first, with their word and the reason under the name', async () => {
    const page = await visit('/jobs');
    const rows = page.locator('tbody tr');
    await rows.first().waitFor();
    const names = await rows.locator('a[data-row]').allTextContents();
    expect(names).toEqual([
      ...SICK_WORST_FIRST.map((word) => `${word}-run`),
      'ok-run',
      'healed-run',
      'llama3-1b-sweep-a',
    ]);
    expect((await words(rows.locator('.badge'))).slice(0, 7)).toEqual([
      ...SICK_WORST_FIRST,
      'running',
      'healed',
    ]);
    const reasons = await rows.locator('.row-reason').allTextContents();
    expect(reasons).toEqual(
      SICK_WORST_FIRST.map((word) => findingOf(word as (typeof FINDINGS)[number]).message),
    );
    const [name, reason] = await Promise.all(
      ['a[data-row]', '.row-reason'].map((part) => rows.first().locator(part).boundingBox()),
    );
    expect(reason!.y).toBeGreaterThanOrEqual(name!.y + name!.height - 2);
  });

  it('sorts by a column, in reverse, and again by health', async () => {
    const page = await visit('/jobs');
    const first = page.locator('tbody tr').first();
    await first.filter({ hasText: 'stalled-run' }).waitFor();
    const column = page.getByRole('columnheader', { name: '#' });
    await column.getByRole('button').click();
    await page.waitForURL(/\?sort=newest$/);
    expect(await column.getAttribute('aria-sort')).toBe('ascending');
    await column.getByRole('button').click();
    await page.waitForURL(/reverse=1/);
    await column.getByRole('button').click();
    await page.waitForURL(/\/jobs$/);
    await first.filter({ hasText: 'stalled-run' }).waitFor();
  });

  it('shows word and reason on a phone', async () => {
    const page = await visit('/jobs', PHONE);
    const row = page.locator('tbody tr').first();
    await row.locator('.badge', { hasText: 'stalled' }).waitFor();
    await row.getByText('#56').waitFor();
    const well = page.locator('tbody tr', { hasText: 'ok-run' });
    await well.getByText('step 1,380 · 29 % · 2h 03m left').waitFor();
    const box = (await row.locator('.row-reason').boundingBox())!;
    expect(box.width).toBeGreaterThan(200);
    expect(box.height).toBeGreaterThan(25);
    expect(box.x + box.width).toBeLessThanOrEqual(PHONE.width);
  });

  it('shows on a phone why a job is queued', async () => {
    server.cluster = busyCluster();
    const page = await visit('/jobs', PHONE);
    const row = page.locator('tbody tr', { hasText: 'mixtral-ablation' });
    await row.getByText('second in line, behind qwen3-32b-warmup (#44)').waitFor();
  });
});

describe('the page of a job', () => {
  it.each(FINDINGS.map((word, index) => [word, FIRST_SICK_JOB + index] as const))(
    'has its word and its sentence: %s',
    async (word, id) => {
      const page = await visit(`/jobs/${id}`);
      const { message, advice } = findingOf(word);
      const header = page.locator('.job-header');
      await header.locator('.job-title .badge', { hasText: word }).waitFor();
      expect(await header.locator('.job-title .badge').count()).toBe(1);
      const item = header.getByRole('list', { name: 'Health' }).getByRole('listitem').first();
      await item.getByText(message).waitFor();
      await item.getByText(/^for 4m \d\ds$/).waitFor();
      expect(await item.innerText()).toContain(advice.replaceAll('`', ''));
      const sick = word !== 'healed';
      expect(await page.title()).toBe(
        sick ? `${word} · ${word}-run #${id}` : `${word}-run #${id} · Trainyard`,
      );
      const icon = await page.locator('link[rel=icon]').getAttribute('href');
      const tone = ['slow', 'unsaved'].includes(word) ? '-warn' : '-bad';
      expect(icon).toBe(`/icon${sick ? tone : ''}.svg`);
    },
  );

  it('lists other findings below the worst, and the steps at risk', async () => {
    const page = await visit('/jobs/56');
    const items = page.getByRole('list', { name: 'Health' }).getByRole('listitem');
    await items.first().waitFor();
    expect(await words(items.locator('.badge'))).toEqual(['stalled', 'slow']);
    await items.getByText('1,300 steps at risk:').waitFor();
    await items.first().getByRole('link', { name: 'Rank 3 on gpu04' }).click();
    await page.waitForURL(/\/jobs\/56\/ranks\?rank=3$/);
    await page.locator('.figure', { hasText: 'Tokens/s' }).getByText('—').waitFor();
    await page.locator('.figure', { hasText: 'Time left' }).getByText('—').waitFor();
  });

  it('shows the restart budget', async () => {
    const page = await visit('/jobs/53');
    await page.getByText('no restarts').waitFor();
    await page.goto(`${server.url}/jobs/54`);
    await page.getByText('8 of 20 restarts', { exact: true }).waitFor();
  });

  it('says nothing of a healthy job', async () => {
    const page = await visit('/jobs/50');
    await page.locator('.job-title .badge', { hasText: 'running' }).waitFor();
    expect(await page.getByRole('list', { name: 'Health' }).count()).toBe(0);
    expect(await page.title()).toBe('ok-run #50 · Trainyard');
  });

  it('shows a word that comes and goes', async () => {
    const page = await visit('/jobs/50');
    const badge = page.locator('.job-title .badge');
    await badge.filter({ hasText: 'running' }).waitFor();
    const job = jobOf('ok-run');
    const well = job.health;
    job.health = {
      word: 'stalled',
      findings: [findingOf('stalled')],
      steps_at_risk: 9,
      saved_step: 0,
      at_risk_since_ms: 0,
    };
    const has = (word: string) => async () => (await badge.innerText()).trim() === word;
    await publishUntil('ok-run', has('stalled'));
    await expect.poll(() => page.title()).toBe('stalled · ok-run #50');
    job.health = well;
    await publishUntil('ok-run', has('running'));
    await expect.poll(() => page.title()).toBe('ok-run #50 · Trainyard');
  });
});

it('shows the worst word of all jobs in the tab', async () => {
  const page = await visit('/nodes');
  await expect.poll(() => page.title()).toBe('stalled · Nodes');
  expect(await page.locator('link[rel=icon]').getAttribute('href')).toBe('/icon-bad.svg');
});

describe.each<Theme>(['light', 'dark'])('axe, %s', (theme) => {
  it.each([
    ['/', WIDE],
    ['/', PHONE],
    ['/jobs', WIDE],
    ['/jobs', PHONE],
    ['/jobs/56', WIDE],
    ['/jobs/54', PHONE],
  ])('%s %o', async (path, viewport) => {
    const page = await visit(path, viewport, theme);
    await page.locator('main .badge', { hasText: /stalled|looping/ }).first().waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });
});

it('opens the overview again without waiting for the controller', async () => {
  const page = await visit('/');
  const running = page.getByRole('region', { name: 'Running' });
  await running.waitFor();
  await page.route(/api\/v1\/server$/, () => undefined);
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await pages.getByRole('link', { name: 'Queue' }).click();
  await page.getByRole('heading', { name: 'Queue', level: 1 }).waitFor();
  await pages.getByRole('link', { name: 'Overview' }).click();
  await running.waitFor();
});

// Adds up the layout shifts of the page from its next load on.
async function watchShifts(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    const shifts: PerformanceEntry[] = [];
    const observer = new PerformanceObserver((list) => shifts.push(...list.getEntries()));
    observer.observe({ type: 'layout-shift', buffered: true });
    Object.assign(window, { allShifts: () => [...shifts, ...observer.takeRecords()] });
  });
  return () =>
    page.evaluate(() => {
      const { allShifts } = window as unknown as { allShifts: () => { value: number }[] };
      return allShifts().reduce((sum, { value }) => sum + value, 0);
    });
}

it.each([
  ['/', '.spark'],
  ['/', '.ledger'],
  ['/usage', '.usage'],
  ['/jobs/56', '.loss-report[aria-label]'],
])('draws %s without moving what is drawn: %s', async (path, last) => {
  const page = await visit(path);
  const shiftSum = await watchShifts(page);
  await page.reload();
  await page.locator(last).first().waitFor();
  expect(await shiftSum()).toBeLessThanOrEqual(0.05);
});
