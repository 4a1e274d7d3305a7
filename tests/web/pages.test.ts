// What a person does with the pages, in a real browser over the fixture server.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PHONE, launch, openPage, type OpenPage } from './browser';
import { busyCluster, emptyCluster, largeCluster } from './fixtures';
import { FixtureServer } from './fixture_server';

let browser: Browser;
let server: FixtureServer;
let open: OpenPage | undefined;

async function visit(path: string, viewport?: typeof PHONE): Promise<Page> {
  open = await openPage(browser, server.url + path, 'light', viewport);
  return open.page;
}

// Requests follow the address by a moment.
const requested = (matches: (request: string) => boolean) =>
  expect.poll(() => server.requests.some(matches)).toBe(true);

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name });

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

describe('overview', () => {
  it('shows what runs, what waits and why, and who holds which slot', async () => {
    const page = await visit('/');
    await page.getByText('2 nodes').or(page.getByText('6 nodes, 24 of 48 slots in use')).waitFor();
    await page.getByText('Needs 4 nodes with 8 free GPUs').waitFor();
    expect(await page.locator('.map-node').count()).toBe(6);
    expect(await page.locator('a.slot').count()).toBe(24);
    await page.getByRole('link', { name: /slot 3: llama3-8b-c4 #42, rank 11/ }).click();
    await heading(page, /llama3-8b-c4/).waitFor();
  });

  it('does not call a silent controller an empty cluster', async () => {
    await server.stop();
    server = new FixtureServer(emptyCluster());
    await server.start();
    const page = await visit('/');
    await page.getByText('No worker has joined yet').waitFor();
    await page.getByText('Nothing waits').waitFor();
    await page.route('**/api/**', (route) => route.abort());
    await page.reload();
    await page.getByText('connecting').waitFor();
    expect(await page.getByText('No worker has joined yet').count()).toBe(0);
  });
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
    server.publish(job);
    await page.getByText('3,200', { exact: false }).first().waitFor();
  });
});

describe('a view that could not be loaded', () => {
  it.each(['/jobs/42', '/jobs/42/logs', '/jobs', '/events', '/jobs/42/ranks'])(
    'is loaded when the controller is back: %s',
    async (path) => {
      const page = await visit('/queue');
      await page.getByText('live', { exact: true }).waitFor();
      // All but the stream fails, as when the controller dies between two requests.
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

describe('curves', () => {
  it('zooms by dragging, asks for finer points, and goes back', async () => {
    const page = await visit('/jobs/42');
    const plot = page.locator('.panel .u-over').first();
    await plot.waitFor();
    const box = (await plot.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=\d+&to=\d+/);
    await page
      .getByText(/^\d+ points$/)
      .first()
      .waitFor();
    await requested((r) => /series.*from=1\d\d\d&to=1\d\d\d/.test(r));
    await page.keyboard.press('0');
    await page.waitForURL((url) => !url.search.includes('from'));
  });

  it('keeps axis, scale and smoothing in the address, by key as by click', async () => {
    const page = await visit('/jobs/42');
    await page.locator('.panel .u-over').first().waitFor();
    await page.keyboard.press('x');
    await page.keyboard.press('y');
    await page.keyboard.press('s');
    await page.waitForURL(/axis=tokens&smooth=0.6&y=log/);
    await page.reload();
    expect(await page.getByRole('radio', { name: 'tokens' }).isChecked()).toBe(true);
    await page.getByRole('radio', { name: 'time' }).check({ force: true });
    await page.waitForURL(/axis=time/);
    await requested((r) => /series.*x=time.*smooth=0.6/.test(r));
  });

  it('reads the values under the cursor in every panel at once', async () => {
    const page = await visit('/jobs/42');
    const plot = page.locator('.panel .u-over').first();
    const box = (await plot.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + 80);
    await page
      .getByRole('region', { name: 'Loss' })
      .getByText(/^step 1,[45]\d\d$/)
      .waitFor();
    await page
      .getByRole('region', { name: 'Gradient norm' })
      .getByText(/^step 1,[45]\d\d$/)
      .waitFor();
  });

  it('adds a series that has no ready panel', async () => {
    const page = await visit('/jobs/42');
    await page.getByText('More series').click();
    await page.getByLabel('layer.0.attention_entropy').check();
    await page.getByRole('region', { name: 'layer.0.attention_entropy' }).waitFor();
    expect(page.url()).toContain('keys=layer.0.attention_entropy');
  });
});

describe('logs', () => {
  it('follows the end, draws few rows, and loads older lines by scrolling', async () => {
    const page = await visit('/jobs/42/logs');
    await page.getByText('step 7499 loss').first().waitFor();
    expect(await page.locator('.log-row').count()).toBeLessThan(120);
    await page.locator('.log').evaluate((log) => log.scrollTo(0, 0));
    await page.getByText('2,000 lines here').waitFor();
    expect(await page.locator('.log').evaluate((log) => log.scrollTop)).toBeGreaterThan(10_000);
    await page.getByRole('button', { name: 'Last line' }).waitFor();
  });

  it('searches at the controller and marks what was found', async () => {
    const page = await visit('/jobs/42/logs');
    await page.getByRole('searchbox', { name: 'Search all output' }).fill('behind');
    await page.locator('.log mark').first().waitFor();
    await requested((r) => r.includes('grep=behind'));
    await page.waitForURL(/grep=behind/);
    await page.getByRole('searchbox', { name: 'Search all output' }).fill('no such text');
    await page.getByText('No line holds').waitFor();
  });

  it('asks for some ranks only', async () => {
    const page = await visit('/jobs/42/logs?ranks=2');
    await page.locator('.log-row').first().waitFor();
    const ranks = new Set(await page.locator('.log-rank').allTextContents());
    expect([...ranks].every((text) => text.endsWith('.2'))).toBe(true);
  });
});

describe('actions', () => {
  it('asks first, shows the equal command line, then stops the job', async () => {
    const page = await visit('/jobs/42');
    await page.getByRole('button', { name: 'Stop…' }).click();
    const dialog = page.getByRole('dialog', { name: /Stop llama3-8b-c4/ });
    await dialog.getByText('trainyard stop 42').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(server.requests.some((r) => r.startsWith('POST'))).toBe(false);
    await page.getByRole('button', { name: 'Stop…' }).click();
    await page.getByRole('button', { name: 'Save and stop' }).click();
    await page.locator('.job-title').getByText('stopping').waitFor();
    expect(server.requests).toContain('POST /api/v1/jobs/42/stop');
  });

  it('submits again under another name and opens the new job', async () => {
    const page = await visit('/jobs/38');
    await page.getByRole('button', { name: 'Submit again…' }).click();
    await page.getByLabel('Name').fill('second-try');
    await page.getByText('second-try', { exact: false }).first().waitFor();
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await page.waitForURL(/\/jobs\/46$/);
  });

  it('cordons a node with a reason', async () => {
    const page = await visit('/nodes');
    await page.getByRole('button', { name: 'Cordon gpu04' }).click();
    await page.getByLabel('Reason').fill('fan');
    await page.getByText("trainyard node cordon gpu04 --reason 'fan'").waitFor();
    await page.getByRole('button', { name: 'Cordon', exact: true }).click();
    await page.getByRole('button', { name: 'Uncordon gpu04' }).waitFor();
  });
});

describe('keyboard', () => {
  it('goes to pages, through rows, and lists its keys', async () => {
    const page = await visit('/');
    await page.getByText('Nothing runs').or(page.locator('.run').first()).first().waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('q');
    await heading(page, /Queue/).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await heading(page, /qwen3-32b-warmup/).waitFor();
    await page.keyboard.press('l');
    await page.waitForURL(/\/logs$/);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  });

  it('finds a job by a few letters', async () => {
    const page = await visit('/');
    await page.getByText('live', { exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('sweep-b');
    await page.getByRole('option', { name: /llama3-1b-sweep-b/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/jobs\/40$/);
  });
});

describe('other views', () => {
  it('says what differs between two jobs', async () => {
    const page = await visit('/jobs/42/config?against=43');
    await page
      .getByRole('cell', { name: 'changed' })
      .or(page.getByTitle('changed'))
      .first()
      .waitFor();
    await page.getByText('llama3-1b-wsd', { exact: true }).waitFor();
  });

  it('shows the verdict of a failed attempt with its last lines', async () => {
    const page = await visit('/jobs/39/timeline');
    await page.getByText('Its last lines').click();
    await page.getByText('error: token id 128263').waitFor();
  });

  it('says that a job or a page does not exist', async () => {
    const page = await visit('/jobs/999');
    await page.getByText('There is no job 999').waitFor();
    await page.goto(`${server.url}/nothing`);
    await page.getByText('There is no such page').waitFor();
  });

  it.each(['/', '/jobs', '/jobs/42', '/jobs/42/ranks', '/jobs/42/logs', '/nodes', '/queue'])(
    'fits a phone: %s',
    async (path) => {
      const page = await visit(path, PHONE);
      await page.waitForTimeout(400);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide).toBeLessThanOrEqual(PHONE.width);
    },
  );
});

describe('large', () => {
  beforeEach(() => {
    server.cluster = largeCluster();
  });

  it('pages through 10,000 jobs with few rows in the document', async () => {
    const page = await visit('/jobs');
    await page.getByText('10,000', { exact: true }).first().waitFor();
    expect(await page.locator('tbody tr').count()).toBeLessThan(80);
    const scroller = page.getByRole('region', { name: 'Jobs' });
    await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.getByText('sweep-9801', { exact: true }).waitFor();
    expect(server.requests.filter((r) => r.includes('/jobs?')).length).toBeGreaterThan(1);
  });

  it('maps 1,024 ranks', async () => {
    const page = await visit('/jobs/10000/ranks');
    await page.locator('.rank').nth(1023).waitFor();
    await page.locator('.rank').nth(11).click();
    await page.getByRole('heading', { name: 'Rank 11' }).waitFor();
  });
});
