// Tests user actions on the pages, in a real browser with a real controller that has a seeded
// history.
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { TIMEOUT_MS, PHONE, launch, openPage, type OpenPage } from './browser';
import { jobNumber, sweepNumbers } from './seeded';

const base = inject('seeded');

let browser: Browser;
let open: OpenPage | undefined;
// The requests that the page has sent since it was opened, such as "GET /api/v1/...".
let requests: string[] = [];

async function visit(path: string, viewport?: typeof PHONE): Promise<Page> {
  requests = [];
  open = await openPage(browser, base + path, 'light', viewport, (request) =>
    requests.push(request),
  );
  return open.page;
}

const visitJob = async (name: string, rest = '') =>
  visit(`/jobs/${await jobNumber(base, name)}${rest}`);

// Waits for a request. The page sends requests shortly after its URL has changed.
const requested = (matches: (request: string) => boolean) =>
  expect.poll(() => requests.some(matches), { timeout: TIMEOUT_MS }).toBe(true);

// Holds requests until the gate is opened.
class Gate {
  open = () => {};
  private reach = () => {};
  readonly reached = new Promise<void>((resolve) => (this.reach = resolve));
  private readonly opened = new Promise<void>((resolve) => (this.open = resolve));

  async pass(route: Route): Promise<void> {
    this.reach();
    await this.opened;
    await route.continue();
  }
}

// Waits until the page has drawn a frame, and so has handled the scroll events before it.
const shownFrame = (page: Page) =>
  page.evaluate(
    () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
  );

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name });
const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

describe.runIf(base !== '')('pages', () => {
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    await open?.context.close();
    expect(open?.complaints).toEqual([]);
    open = undefined;
  });

  describe('overview', () => {
    it('shows what runs, what waits and why, and who holds which slot', async () => {
      const page = await visit('/');
      const summary = /^136 nodes, 1 lost, 1 cordoned, 1,0\d\d of 1,088 slots in use$/;
      await page.getByText(summary).waitFor();
      await page.getByText(/^Needs 6 nodes/).waitFor();
      expect(await page.locator('.map-node').count()).toBe(136);
      // Each pair of a job and a node has one link.
      expect(await page.locator('a.slot').count()).toBeGreaterThan(130);
      const holder = /slots 0 to 7: llama3-8b-c4 #\d+, ranks 8 to 15/;
      await page.getByRole('link', { name: holder }).click();
      await heading(page, /llama3-8b-c4/).waitFor();
    });

    it('calls an empty cluster empty, and says how to begin', async () => {
      open = await openPage(browser, inject('empty'));
      await open.page.getByText('No worker has joined yet').waitFor();
      await open.page.getByText('No queued jobs').waitFor();
      await open.page.getByText(/trainyard submit/).waitFor();
    });
  });

  describe('hidden tabs', () => {
    it('take no connection of the six that a browser has, until they are seen', async () => {
      const page = await visit('/');
      await page.getByText('live', { exact: true }).waitFor();
      const context = open!.context;
      const streams: string[] = [];
      const hidden: Page[] = [];
      for (let tab = 0; tab < 7; tab++) {
        const behind = await context.newPage();
        await behind.addInitScript(() => {
          Object.defineProperty(document, 'visibilityState', {
            value: 'hidden',
            configurable: true,
          });
        });
        behind.on('request', (request) => {
          if (request.url().includes('/events/stream')) streams.push(request.url());
        });
        await behind.goto(`${base}/jobs/${await jobNumber(base, 'llama3-8b-c4')}`);
        await heading(behind, /llama3-8b-c4/).waitFor();
        hidden.push(behind);
      }
      await page.reload();
      await page.getByText('live', { exact: true }).waitFor();
      expect(streams).toEqual([]);
      const seen = hidden[0]!;
      await seen.evaluate(() => {
        Object.defineProperty(document, 'visibilityState', { value: 'visible' });
        document.dispatchEvent(new Event('visibilitychange'));
      });
      await seen.getByText('live', { exact: true }).waitFor();
      expect(streams.length).toBe(1);
    });
  });

  describe('the list of jobs', () => {
    it('shows what it was searched for, also when that is changed elsewhere', async () => {
      const page = await visit('/jobs?sort=nonsense');
      const field = page.getByRole('searchbox', { name: 'Search jobs' });
      await field.fill('no such job at all');
      await page.getByText('No matching jobs').waitFor();
      await page.getByRole('button', { name: 'Show all jobs' }).click();
      await page.locator('tbody tr').nth(20).waitFor();
      expect(await field.inputValue()).toBe('');
      expect(page.url()).not.toContain('q=');
    });
  });

  describe('curves', () => {
    it('zooms by dragging, asks for finer points, and goes back', async () => {
      const page = await visitJob('llama3-8b-c4');
      const plot = page.locator('.panel .u-over').first();
      await plot.waitFor();
      const box = (await plot.boundingBox())!;
      await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.45, box.y + 60, { steps: 4 });
      await page.mouse.up();
      await page.waitForURL(/from=\d+&to=\d+/);
      await panel(page, 'Loss')
        .getByText(/^\d+ points$/)
        .waitFor();
      await requested((r) => /series.*from=\d+&to=\d+/.test(r));
      await page.keyboard.press('0');
      await page.waitForURL((url) => !url.search.includes('from'));
    });

    it('are read and zoomed by keys alone', async () => {
      const page = await visitJob('llama3-1b-base');
      const chart = page.getByRole('application', { name: /^Loss by step/ });
      await chart.focus();
      await page.keyboard.press('End');
      const loss = panel(page, 'Loss');
      const last = await loss.getByText(/^step [\d,]+$/).textContent();
      await page.keyboard.press('ArrowLeft');
      await expect.poll(() => loss.getByText(/^step [\d,]+$/).textContent()).not.toBe(last);
      await page.keyboard.press('Home');
      await page.keyboard.press('+');
      await page.waitForURL(/from=\d+&to=\d+/);
      await requested((r) => /series.*from=\d+&to=\d+/.test(r));
      expect(await chart.evaluate((element) => element === document.activeElement)).toBe(true);
      await page.keyboard.press('-');
      await page.waitForURL((url) => !url.search.includes('from'));
    });

    it('goes from a million points down to each of them', async () => {
      const page = await visitJob('tiny-million');
      await panel(page, 'Loss')
        .getByText(/Each point averages .* steps \(band: min–max\)/)
        .waitFor();
      // The job ended long before this controller was started.
      await page.locator('.figure.step').getByText('1,000,000', { exact: false }).waitFor();
      expect(await page.locator('.figure.step dd').first().textContent()).toMatch(/^1,000,000 /);
      const id = await jobNumber(base, 'tiny-million');
      await page.goto(`${base}/jobs/${id}?from=500000&to=500200`);
      await panel(page, 'Loss').getByText('201 points', { exact: true }).waitFor();
    });

    it('keeps axis, scale and smoothing in the address, by key as by click', async () => {
      const page = await visitJob('llama3-8b-c4');
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
      const page = await visitJob('llama3-1b-base');
      const plot = page.locator('.panel .u-over').first();
      const box = (await plot.boundingBox())!;
      await page.mouse.move(box.x + box.width / 2, box.y + 80);
      const at = /^step 1,[45]\d\d$/;
      await panel(page, 'Loss').getByText(at).waitFor();
      const loss = await panel(page, 'Loss').getByText(at).textContent();
      await panel(page, 'Gradient norm').getByText(loss!, { exact: true }).waitFor();
    });

    it('tells of the redone branches, the restarts and what was not a number', async () => {
      const page = await visitJob('llama3-8b-c4');
      await page.locator('.panel .u-over').first().waitFor();
      await page.getByRole('radio', { name: 'all', exact: true }).waitFor();
      await requested((r) => /series.*attempts=all/.test(r));
      const plot = page.locator('.panel .u-over').first();
      const box = (await plot.boundingBox())!;
      const seen = async (text: RegExp) => {
        for (let x = 10; x < box.width; x += 6) {
          await page.mouse.move(box.x + x, box.y + 80);
          if ((await page.locator('.marker-text', { hasText: text }).count()) > 0) return true;
        }
        return false;
      };
      expect(await seen(/attempt 2 from step 2000/)).toBe(true);
      expect(await seen(/loss spike at step 2890/)).toBe(true);
    });

    it('stays with attempt and zoom from one view of the job to another', async () => {
      const page = await visitJob('llama3-8b-c4', '?attempt=2&from=2000&to=2200');
      await page.locator('.panel .u-over').first().waitFor();
      await page.getByRole('link', { name: 'Ranks' }).click();
      await page.getByText(/^attempt 2 ·/).waitFor();
      await page.keyboard.press('1');
      await page.waitForURL(/attempt=2&from=2000&to=2200/);
      await page.getByRole('button', { name: 'Whole run' }).waitFor();
    });

    it('adds a series that has no ready panel', async () => {
      const page = await visitJob('sweep-lr1e-04-01');
      await page.locator('summary', { hasText: 'More series' }).click();
      await page.getByLabel('attention_entropy').check();
      await panel(page, 'attention_entropy').waitFor();
      expect(page.url()).toContain('keys=attention_entropy');
    });
  });

  describe('logs', () => {
    it('follows the end, draws few rows, and loads older lines by scrolling', async () => {
      const page = await visitJob('tiny-million', '/logs');
      await page.locator('.log-row').first().waitFor();
      expect(await page.locator('.log-row').count()).toBeLessThan(120);
      await page.locator('.log').evaluate((log) => log.scrollTo(0, 0));
      await page.getByText('2,000 lines loaded').waitFor();
      expect(await page.locator('.log').evaluate((log) => log.scrollTop)).toBeGreaterThan(10_000);
      await page.getByRole('button', { name: 'Last line' }).waitFor();
    });

    it('searches at the controller and marks what was found', async () => {
      const page = await visitJob('llama3-8b-c4', '/logs');
      await page.getByRole('searchbox', { name: 'Search all output' }).fill('behind');
      await page.locator('.log mark').first().waitFor();
      await requested((r) => r.includes('grep=behind'));
      await page.waitForURL(/grep=behind/);
      await page.getByRole('searchbox', { name: 'Search all output' }).fill('no such text');
      await page.getByText('No lines match').waitFor();
    });

    it('opens lines by keys, and a link to one leads to it', async () => {
      const page = await visitJob('tiny-million', '/logs');
      await page.locator('.log-row').first().waitFor();
      await page.locator('.log').evaluate((log) => log.scrollTo(0, 3_000));
      await page.getByRole('button', { name: 'Last line' }).waitFor();
      await page.locator('.log').focus();
      await page.keyboard.press('Enter');
      const detail = page.getByRole('region', { name: 'Open line' });
      await detail.waitFor();
      const first = await detail.locator('pre').textContent();
      await page.keyboard.press('ArrowDown');
      await expect.poll(() => detail.locator('pre').textContent()).not.toBe(first);
      const second = await detail.locator('pre').textContent();
      await page.waitForURL(/line=\d+\.\d+\.\d+/);
      await page.reload();
      await expect
        .poll(() => detail.locator('pre').textContent(), { timeout: TIMEOUT_MS })
        .toBe(second);
      await page.locator('.log-row.chosen').waitFor();
      await page.locator('.log').focus();
      await page.keyboard.press('Escape');
      await detail.waitFor({ state: 'detached' });
      await page.waitForURL((url) => !url.search.includes('line'));
    });

    it('asks for some ranks only', async () => {
      const page = await visitJob('llama3-8b-c4', '/logs?ranks=2');
      await page.locator('.log-row').first().waitFor();
      const ranks = new Set(await page.locator('.log-rank').allTextContents());
      expect([...ranks].every((text) => text.endsWith('.2'))).toBe(true);
    });
  });

  describe('actions', () => {
    it('asks first, shows the equal command line, then stops the job', async () => {
      const id = await jobNumber(base, 'llama3-1b-wsd');
      const page = await visit(`/jobs/${id}`);
      await page.getByRole('button', { name: 'Stop…' }).click();
      const dialog = page.getByRole('dialog', { name: /Stop llama3-1b-wsd/ });
      await dialog.getByText(`trainyard stop ${id}`).waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(requests.some((r) => r.startsWith('POST'))).toBe(false);
      // The stream reports the stop before the response to an earlier request for the job arrives.
      // This late response must not restore the old state on the page.
      const stopped = page.locator('.job-title').getByText('stopped');
      await page.route(`**/api/v1/jobs/${id}`, async (route) => {
        const response = await route.fetch();
        await stopped.waitFor();
        await route.fulfill({ response });
      });
      await page.getByRole('button', { name: 'Stop…' }).click();
      await page.getByRole('button', { name: 'Save and stop' }).click();
      await dialog.waitFor({ state: 'detached' });
      await stopped.waitFor();
      expect(requests).toContain(`POST /api/v1/jobs/${id}/stop`);
    });

    it('submits again under another name and opens the new job', async () => {
      const page = await visitJob('llama3-1b-base');
      await page.getByRole('button', { name: 'Submit again…' }).click();
      await page.getByLabel('Name').fill('second-try');
      await page.getByText('second-try', { exact: false }).first().waitFor();
      // The response to the first click is lost. The second click must not create a second job.
      const ids: string[] = [];
      await page.route('**/api/v1/jobs', async (route) => {
        ids.push((route.request().postDataJSON() as { request_id: string }).request_id);
        if (ids.length > 1) return route.continue();
        await route.fetch();
        return route.abort();
      });
      await page.getByRole('button', { name: 'Submit', exact: true }).click();
      await page.getByRole('alert').waitFor();
      await page.getByRole('button', { name: 'Submit', exact: true }).click();
      await heading(page, /second-try/).waitFor();
      expect(ids.length).toBe(2);
      expect(ids[0]).toBe(ids[1]);
    });

    it('cordons a node with a reason, and lifts it', async () => {
      const page = await visit('/nodes?node=gpu136');
      await page.getByRole('button', { name: 'Cordon gpu136', exact: true }).click();
      await page.getByLabel('Reason').fill('fan');
      await page.getByText("trainyard node cordon gpu136 --reason 'fan'").waitFor();
      await page.getByRole('button', { name: 'Cordon', exact: true }).click();
      await page.getByRole('button', { name: 'Uncordon gpu136' }).click();
      await page.getByRole('button', { name: 'Uncordon', exact: true }).click();
      await page.getByRole('button', { name: 'Cordon gpu136', exact: true }).waitFor();
    });
  });

  describe('keyboard', () => {
    it('goes to pages, through rows, and lists its keys', async () => {
      const page = await visit('/');
      await page.locator('.run').first().waitFor();
      await page.keyboard.press('g');
      await page.keyboard.press('q');
      await page.getByRole('heading', { name: /Queue/, level: 1 }).waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await page.locator('.job-title').waitFor();
      await page.keyboard.press('l');
      await page.waitForURL(/\/logs$/);
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    });

    it('finds a job by a few letters, also one that no list holds any more', async () => {
      const page = await visit('/');
      await page.getByText('live', { exact: true }).waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.type('qk-norm-00005');
      await page.getByRole('option', { name: /ablation-qk-norm-00005/ }).waitFor();
      await page.keyboard.press('Enter');
      await heading(page, /qk-norm-00005/).waitFor();
    });
  });

  describe('other views', () => {
    it('overlays 50 runs and says what differs', async () => {
      const page = await visit(`/compare?jobs=${(await sweepNumbers(base)).join(',')}`);
      await page.locator('.compare-runs tbody tr').nth(49).waitFor();
      await page.getByRole('columnheader', { name: 'optimizer.lr' }).waitFor();
    });

    it('says when it leaves runs out', async () => {
      const runs = await sweepNumbers(base);
      const page = await visit(`/compare?jobs=${[...runs, 1, 2].join(',')}`);
      await page.getByText('Showing the first 50 of 52 runs').waitFor();
    });

    it('says what differs between two jobs', async () => {
      const other = await jobNumber(base, 'dense-405b');
      const page = await visitJob('llama3-8b-c4', `/config?against=${other}`);
      await page.getByTitle('changed').first().waitFor();
      await page.getByRole('cell', { name: 'train.global_batch' }).waitFor();
    });

    it('shows the verdict of each failed attempt with its last lines', async () => {
      const page = await visitJob('llama3-8b-c4', '/timeline');
      await heading(page, 'Attempt 3').waitFor();
      await page.getByText('Last lines of output').last().click();
      await page.getByText('step 2210/12000 loss 2.4275').waitFor();
    });

    it('says why a job failed, first', async () => {
      const page = await visitJob('tokenizer-check');
      await page.locator('.reason').getByText(/rank 0 on gpu\d+ exited with code 65/).waitFor();
    });

    it('says that a job or a page does not exist', async () => {
      const page = await visit('/jobs/999999');
      await page.getByText('Job 999999 not found').waitFor();
      await page.goto(`${base}/nothing`);
      await page.getByText('Page not found').waitFor();
    });

    it.each(['/', '/jobs', '', '/ranks', '/logs', '/timeline', '/config', '/nodes', '/queue'])(
      'fits a phone: %s',
      async (path) => {
        const whole = ['/', '/jobs', '/nodes', '/queue'].includes(path);
        const job = whole ? '' : `/jobs/${await jobNumber(base, 'llama3-8b-c4')}`;
        const page = await visit(job + path, PHONE);
        await page.getByText('live', { exact: true }).waitFor();
        await page.locator('.skeleton').first().waitFor({ state: 'detached' });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(wide).toBeLessThanOrEqual(PHONE.width);
      },
    );
  });

  describe('large', () => {
    const asksForMore = (request: string) => /\/jobs\?.*cursor=\d/.test(request);

    it('pages through 10,000 jobs with few rows in the document', async () => {
      const page = await visit('/jobs');
      await page.getByText(/^10,0\d\d$/).first().waitFor();
      expect(await page.locator('tbody tr').count()).toBeLessThan(80);
      const scroller = page.getByRole('region', { name: 'Jobs' });
      await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await requested(asksForMore);
      await page.getByText(/-09\d\d\d$/).first().waitFor();
      expect(await page.locator('tbody tr').count()).toBeLessThan(80);
    });

    it('loads more when the end comes into view during a refresh', async () => {
      const page = await visit('/nodes');
      // The page refreshes the list when the stream sends the jobs. Here the stream starts only
      // after the first list is shown, so that there is always a refresh.
      const stream = new Gate();
      const refresh = new Gate();
      let asked = 0;
      await page.route(/\/events\/stream/, (route) => stream.pass(route));
      await page.route(/\/jobs\?(?!.*cursor=\d)/, (route) =>
        ++asked > 1 ? refresh.pass(route) : route.continue(),
      );
      await page.goto(`${base}/jobs`);
      await page.getByText(/^10,0\d\d$/).first().waitFor();
      stream.open();
      await refresh.reached;
      const scroller = page.getByRole('region', { name: 'Jobs' });
      await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await shownFrame(page);
      refresh.open();
      await requested(asksForMore);
    });

    it('maps 1,024 ranks', async () => {
      const page = await visitJob('dense-405b', '/ranks');
      const map = page.getByRole('group', { name: /1,024 ranks/ });
      await page.locator('.rank-canvas[data-drawn="1024"]').waitFor();
      // The fourth cell in the first group.
      await map.click({ position: { x: 66 + 3 * 26 + 12, y: 12 } });
      await heading(page, 'Rank 3').waitFor();
      await page.keyboard.press('ArrowRight');
      await heading(page, 'Rank 4').waitFor();
      await page.keyboard.press('End');
      await heading(page, 'Rank 1023').waitFor();
      // The selected rank is part of the page's URL.
      await page.waitForURL(/rank=1023/);
      await page.reload();
      await heading(page, 'Rank 1023').waitFor();
    });
  });
});
