// Tests the queue and the nodes, on a small and on a large cluster. Uses the fixture server.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { violationsOf } from './axe';
import { launch, openPage, PHONE, WIDE, type OpenPage, type Theme } from './browser';
import { LARGE_NODES, QUEUE_SENT, largeCluster } from './fixture_large';
import { MINUTE, NOW, busyCluster } from './fixtures';
import { FixtureServer } from './fixture_server';

let browser: Browser;
let server: FixtureServer;
let open: OpenPage | undefined;

async function visit(path: string, viewport = WIDE): Promise<Page> {
  open = await openPage(browser, server.url + path, 'light', viewport);
  return open.page;
}

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());
beforeEach(async () => {
  server = new FixtureServer(busyCluster());
  await server.start();
});
afterEach(async () => {
  await open?.context.close();
  expect(open?.complaints).toEqual([]);
  open = undefined;
  await server.stop();
});

const BEHIND = '2,501 jobs wait behind mixtral (#44), which needs 30 × 8 gpu.';

describe('a long queue', () => {
  it('names what blocks it once, and draws only visible rows', async () => {
    server.cluster = largeCluster();
    const page = await visit('/queue');
    const group = page.getByRole('region', { name: BEHIND });
    await group.getByText('sweep-45', { exact: true }).waitFor();
    expect(await group.locator('tbody tr').count()).toBeLessThan(QUEUE_SENT / 2);
    expect(await page.locator('.queue-row').count()).toBe(1);
    expect(await page.getByText('in line', { exact: false }).count()).toBe(0);
    expect(await page.getByText('priority', { exact: true }).count()).toBe(0);
    await group.getByText(`Showing the first ${QUEUE_SENT - 1} of 2,501.`).waitFor();
    await group.getByRole('link', { name: 'mixtral (#44)' }).click();
    await page.waitForURL(/\/jobs\/44$/);
  });

  it('is one sentence on the overview', async () => {
    server.cluster = largeCluster();
    const page = await visit('/');
    const card = page.getByRole('region', { name: 'Queue', exact: true });
    await card.getByText(BEHIND).waitFor();
    expect(await card.getByRole('listitem').count()).toBe(2);
  });

  it('keeps jobs that a user holds apart', async () => {
    server.cluster.jobs.find(({ id }) => id === 45)!.state = 'held';
    const page = await visit('/queue');
    const held = page.getByRole('region', { name: /Paused and held/ });
    const above = (await page.locator('.queue').first().boundingBox())!;
    const box = (await held.boundingBox())!;
    expect(box.y - above.y - above.height).toBeGreaterThanOrEqual(20);
  });
});

describe('nodes', () => {
  it('are one windowed table with their word and its reason', async () => {
    server.cluster = largeCluster();
    const page = await visit('/nodes');
    const rows = page.locator('tbody tr');
    const first = rows.first();
    await first.getByText('suspect', { exact: true }).waitFor();
    await first.getByText(/^no heartbeat for 27m \d\ds$/).waitFor();
    expect(await page.getByText('3142 ms').count()).toBe(0);
    expect(await rows.count()).toBeLessThan(60);
    await page.getByLabel('Filter nodes').fill('rack17');
    await expect.poll(() => rows.count()).toBe(8);
    await rows.last().getByRole('link', { name: /node136/ }).click();
    await page.waitForURL(/\/nodes\/node-136$/);
  });

  it('have a page with attempts, failures and checks', async () => {
    const [found] = server.cluster.nodes;
    found!.evidence = [
      {
        time_ms: NOW - 5 * MINUTE,
        fault: 'device',
        job_id: 42,
        attempt: 1,
        reason: 'XID 79: GPU has fallen off the bus',
        fatal: true,
        xid: 79,
        rank: 0,
        worker_restarted: false,
      },
    ];
    const page = await visit('/nodes/gpu01');
    await page.getByRole('heading', { name: 'gpu01' }).waitFor();
    const attempts = page.getByRole('region', { name: 'Attempts on this node' });
    await attempts.getByRole('link', { name: 'llama3-8b-c4 #42', exact: true }).waitFor();
    await attempts.getByRole('link', { name: 'ranks 0–7' }).waitFor();
    await page.getByText('GPU has fallen off the bus').waitFor();
    const checks = page.getByRole('region', { name: 'Checks' });
    await checks.getByText('free disk space').waitFor();
    await page.getByRole('button', { name: 'Cordon…' }).click();
    await page.getByRole('button', { name: 'Cordon', exact: true }).click();
    await page.locator('.job-title').getByText('cordoned', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Uncordon…' }).waitFor();
  });

  it('has past attempts, and the history of each GPU with its errors', async () => {
    const page = await visit('/nodes/gpu01');
    const past = page.getByRole('region', { name: 'Past attempts' });
    await past.getByRole('link', { name: 'llama3-8b-c4 #42' }).first().waitFor();
    await past.locator('.tone-bad', { hasText: 'rank 11 on gpu02 was ended' }).waitFor();
    await past.locator('.badge.tone-idle', { hasText: 'paused' }).waitFor();
    expect(await past.getByText('ranks 8–11').count()).toBe(1);
    const gpu = (index: number) =>
      page.getByRole('region', { name: 'GPUs' }).getByRole('listitem').nth(index);
    await gpu(0).getByText('no errors').waitFor();
    await gpu(0).getByRole('img', { name: /^Temperature of GPU 0: \d+ °C now/ }).waitFor();
    await gpu(2).locator('.tone-warn', { hasText: 'throttled' }).waitFor();
    await gpu(3).locator('.tone-bad', { hasText: 'XID 79' }).waitFor();
    await gpu(3).getByText('2 uncorrected ECC errors').waitFor();
    await gpu(5).getByText('no readings yet').waitFor();
    await page.getByRole('radio', { name: '1 h' }).check({ force: true });
    await expect.poll(() => page.url()).toMatch(/hours=1$/);
    await gpu(0).getByRole('img', { name: /in the last hour$/ }).first().waitFor();
  });

  it('reserves the space of the history', async () => {
    const page = await visit('/nodes');
    let answer = () => {};
    const asked = new Promise<void>((resolve) => (answer = resolve));
    await page.route(/\/nodes\/node-1\?/, async (route) => {
      await asked;
      await route.continue();
    });
    await page.getByRole('link', { name: 'gpu01' }).click();
    const cards = page.locator('.node-cards');
    await cards.waitFor();
    const before = (await cards.boundingBox())!.y;
    answer();
    await page.getByText('no readings yet').waitFor();
    expect((await cards.boundingBox())!.y).toBe(before);
  });

  it('say that a node does not exist', async () => {
    const page = await visit('/nodes/none');
    await page.getByText('Node none not found').waitFor();
  });
});

describe.each<[Theme, typeof WIDE]>([
  ['light', WIDE],
  ['dark', PHONE],
])('a large cluster, %s', (theme, viewport) => {
  it.each(['/', '/queue', '/nodes', '/nodes/node-61'])(
    'is accessible, also while the controller is away: %s',
    async (path) => {
      server.cluster = largeCluster();
      open = await openPage(browser, server.url + path, theme, viewport);
      const { page } = open;
      await page.getByText('live', { exact: true }).waitFor();
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
      expect(await violationsOf(page)).toEqual([]);
      await server.stop();
      await page.locator('main.stale').waitFor();
      expect(await violationsOf(page)).toEqual([]);
    },
  );
});

// Returns the cumulative layout shift of the page so far, without shifts that the user caused.
function layoutShift(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let sum = 0;
        type Shift = PerformanceEntry & { value: number; hadRecentInput: boolean };
        const add = (entries: PerformanceEntryList) => {
          for (const entry of entries as Shift[]) if (!entry.hadRecentInput) sum += entry.value;
        };
        const observer = new PerformanceObserver((list) => add(list.getEntries()));
        observer.observe({ type: 'layout-shift', buffered: true });
        // Entries are delivered after the frame in which they occurred.
        requestAnimationFrame(() => setTimeout(() => resolve((add(observer.takeRecords()), sum))));
      }),
  );
}

describe('the overview of 136 nodes', () => {
  it.each([WIDE, PHONE])('does not move its content while it loads: %o', async (viewport) => {
    server.cluster = largeCluster();
    server.nodesDelayMs = 300;
    open = await openPage(browser, 'about:blank', 'light', viewport);
    const { page } = open;
    for (const [pattern, delayMs] of [
      [/api\/v1\/events\?/, 600],
      [/api\/v1\/report/, 900],
    ] as const) {
      await page.route(pattern, (route) => setTimeout(() => void route.continue(), delayMs));
    }
    await page.goto(server.url);
    await page.locator('.map-node').nth(LARGE_NODES - 1).waitFor();
    await page.locator('.ledger').waitFor();
    await page.locator('.events li').first().waitFor();
    expect(await layoutShift(page)).toBeLessThanOrEqual(0.05);
  });
});
