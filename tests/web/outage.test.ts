// Tests pages while the controller is unavailable or fails. Uses the fixture server, because a real
// controller cannot be made to reject one request and answer another.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launch, openPage, type OpenPage } from './browser';
import { busyCluster, emptyCluster } from './fixtures';
import { FixtureServer } from './fixture_server';

let browser: Browser;
let server: FixtureServer;
let open: OpenPage | undefined;

async function visit(path: string): Promise<Page> {
  open = await openPage(browser, server.url + path);
  return open.page;
}

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { name, level: 1 });

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

it('does not show an unreachable controller as an empty cluster', async () => {
  await server.stop();
  server = new FixtureServer(emptyCluster());
  await server.start();
  const page = await visit('/');
  await page.getByText('No worker has joined yet').waitFor();
  await page.getByText('No queued jobs').waitFor();
  await page.route('**/api/**', (route) => route.abort());
  await page.reload();
  await page.getByText('connecting').waitFor();
  expect(await page.getByText('No worker has joined yet').count()).toBe(0);
});

describe('a controller that goes away', () => {
  it('is said, with the age of the page, and the page recovers by itself', async () => {
    const page = await visit('/jobs/42');
    await heading(page, /llama3-8b-c4/).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await server.stop();
    await page.getByText(/^stale \d/).waitFor();
    await heading(page, /llama3-8b-c4/).waitFor();
    await server.start();
    await page.getByText('live', { exact: true }).waitFor();
    const job = server.cluster.jobs.find(({ id }) => id === 42)!;
    job.progress!.step = 3200;
    // Publishes repeatedly until the page shows the change. A single message could be lost while
    // the page reconnects its stream to subscribe to the job.
    const published = () => {
      server.publish(job);
      return page.getByText('3,200', { exact: false }).count();
    };
    await expect.poll(published, { timeout: 30_000 }).toBeGreaterThan(0);
  });
});

describe('pages without the controller', () => {
  const NAMES = ['Queue', 'Events', 'Planner', 'Nodes', 'Compare'];

  it('open, are grey and offer no actions', async () => {
    const page = await visit('/jobs/42');
    const stop = page.getByRole('button', { name: 'Stop…' });
    await page.getByText('live', { exact: true }).waitFor();
    expect(await stop.isEnabled()).toBe(true);
    expect(await page.locator('main.stale').count()).toBe(0);
    // Waits until the code of the last page has been loaded.
    const loadedPages = () =>
      page.evaluate(
        () =>
          performance
            .getEntriesByType('resource')
            .filter(({ name }) => /assets\/(cluster_pages|events|planner|compare)-/.test(name))
            .length,
      );
    await expect.poll(loadedPages, { timeout: 30_000 }).toBeGreaterThanOrEqual(4);
    await server.stop();
    await page.getByText(/^stale \d/).waitFor();
    await page.locator('main.stale').waitFor();
    expect(await stop.isDisabled()).toBe(true);
    for (const name of NAMES) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
      await heading(page, name).waitFor();
      expect(await page.getByText('This page could not be loaded').count(), name).toBe(0);
    }
    await page.getByRole('link', { name: 'Events' }).first().click();
    await page.locator('.events li').first().waitFor();
    await server.start();
    await page.locator('main:not(.stale)').waitFor();
  });
});

describe('a controller that cannot store', () => {
  it('is said on every page until it can', async () => {
    const message = 'disk is full; free disk space';
    server.cluster.storageProblems = [{ store: 'events', message, since_ms: Date.now() - 90_000 }];
    const page = await visit('/jobs');
    const trouble = page.getByRole('alert').filter({ hasText: message });
    await trouble.waitFor();
    expect(await trouble.innerText()).toContain('Running ranks continue');
    await page.keyboard.press('g');
    await page.keyboard.press('n');
    await heading(page, 'Nodes').waitFor();
    expect(await trouble.count()).toBe(1);
    server.cluster.storageProblems = [];
    await trouble.waitFor({ state: 'detached' });
  });
});

describe('a view that was loaded before the controller went away', () => {
  it('shows what has happened meanwhile', async () => {
    const page = await visit('/jobs/42');
    const loss = page.getByRole('region', { name: 'Loss', exact: true });
    const density = loss.locator('.density');
    await density.getByText(/points|steps/).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await server.stop();
    await page.getByText(/^stale \d/).waitFor();
    asked.length = 0;
    await server.start();
    await page.getByText('live', { exact: true }).waitFor();
    for (const path of ['/api/v1/jobs/42', '/api/v1/jobs/42/series', '/api/v1/jobs/42/metrics']) {
      await expect.poll(() => asked.includes(path), { message: path }).toBe(true);
    }
  });

  it('is asked for again while the stream goes on', async () => {
    const page = await visit('/queue');
    await page.getByText('live', { exact: true }).waitFor();
    await page.route(/api\/v1\/jobs\?/, (route) => route.abort());
    await page.getByRole('link', { name: 'Jobs' }).first().click();
    await page.getByRole('alert').first().waitFor();
    await page.unroute(/api\/v1\/jobs\?/);
    await page.locator('tbody tr').first().waitFor();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  });
});

describe('a view that could not be loaded', () => {
  it.each(['/jobs/42', '/jobs/42/logs', '/jobs', '/events', '/jobs/42/ranks'])(
    'is loaded when the controller is back: %s',
    async (path) => {
      const page = await visit('/queue');
      await page.getByText('live', { exact: true }).waitFor();
      // Every request except the stream fails, as if the controller had crashed after it opened the
      // stream.
      await page.route(/api\/v1\/(jobs|events\?)/, (route) => route.abort());
      await page.evaluate((to) => {
        history.pushState(null, '', to);
        dispatchEvent(new PopStateEvent('popstate'));
      }, path);
      await page.getByRole('alert').first().waitFor();
      await page.unroute(/api\/v1\/(jobs|events\?)/);
      await server.stop();
      await page.getByText(/^stale \d/).waitFor();
      await server.start();
      await page.getByText('live', { exact: true }).waitFor();
      await expect.poll(() => page.getByRole('alert').count()).toBe(0);
      await page.locator('.panel, .log-row, tbody tr, .events li, .rank').first().waitFor();
    },
  );
});
