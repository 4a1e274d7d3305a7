// Tests pages in states that do not occur in the seeded history. Uses the fixture server.
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launch, openPage, type OpenPage } from './browser';
import { NOW, busyCluster, emptyCluster, type Cluster } from './fixtures';
import { FixtureServer, GRPC_PORT } from './fixture_server';

let browser: Browser;
let server: FixtureServer;
let open: OpenPage | undefined;

const LAPTOP = { width: 1280, height: 720 };

async function visit(path: string, viewport = LAPTOP): Promise<Page> {
  open = await openPage(browser, server.url + path, 'light', viewport);
  return open.page;
}

const jobOf = (id: number) => server.cluster.jobs.find((job) => job.id === id)!;
const serve = (cluster: Cluster) => {
  server.cluster = cluster;
};

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

describe('an empty cluster', () => {
  it.each(['/', '/nodes'])('tells workers the port of the controller: %s', async (path) => {
    serve(emptyCluster());
    const page = await visit(path);
    const line = `trainyard-worker --controller 127.0.0.1:${GRPC_PORT} --data-dir DIR`;
    await page.getByText(line).first().waitFor();
  });
});

describe('the ledger', () => {
  it('shows the time of the slots by user, and the sum', async () => {
    const page = await visit('/');
    const table = page.getByRole('region', { name: 'Ledger' }).getByRole('table');
    await table.getByRole('row', { name: /^grace .* 75\.0 %$/ }).waitFor();
    await table.getByRole('row', { name: /^total/ }).waitFor();
    expect(await table.locator('.phase-restart').count()).toBe(2);
  });
});

describe('what was removed while a page is open', () => {
  const live = (page: Page) => page.getByText('live', { exact: true }).waitFor();

  it('leaves the nodes', async () => {
    const page = await visit('/nodes');
    await live(page);
    const { id, name } = server.cluster.nodes[5]!;
    const row = page.getByText(name, { exact: true });
    await row.first().waitFor();
    server.remove(id, 0);
    await expect.poll(() => row.count()).toBe(0);
  });

  it('leaves the list of jobs, and the page of the job says so', async () => {
    const page = await visit('/jobs');
    await live(page);
    const row = page.getByRole('link', { name: jobOf(42).name, exact: true });
    await row.waitFor();
    server.remove('none', 42);
    await row.waitFor({ state: 'detached' });
    await open?.context.close();
    server.cluster = busyCluster();
    const job = await visit('/jobs/42');
    await live(job);
    await job.getByRole('heading', { name: jobOf(42).name }).waitFor();
    server.remove('none', 42);
    await job.getByText('Job 42 was deleted').waitFor();
  });
});

describe('a download', () => {
  it('saves what the controller answers', async () => {
    const page = await visit('/jobs/42/logs');
    const begun = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Last 5,000 lines' }).click();
    const file = await begun;
    expect(file.suggestedFilename()).toBe(`${jobOf(42).name}-42.log`);
    expect(await readFile(await file.path(), 'utf8')).toContain('grad_norm');
  });

  it('says why it failed', async () => {
    const page = await visit('/jobs/42');
    await page.route(/format=csv/, (route) => route.fulfill({ status: 503, body: 'no' }));
    await page.getByRole('button', { name: 'Loss as CSV' }).click();
    await page.getByText('Download failed: The controller returned HTTP 503').waitFor();
  });
});

describe('nodes in trouble', () => {
  it('have whole names, however long', async () => {
    const { nodes } = server.cluster;
    nodes[4]!.name = 'rack-17-row-b-gpu-server-cordoned-05.training.example.org';
    nodes[5]!.name = 'rack-17-row-b-gpu-server-lost-06.training.example.org';
    const page = await visit('/');
    for (const { name } of [nodes[4]!, nodes[5]!]) {
      const shown = page.locator('.map-node.troubled').getByText(name, { exact: true });
      await shown.waitFor();
      const cut = await shown.evaluate(
        (element) =>
          element.scrollWidth > element.clientWidth + 1 &&
          getComputedStyle(element).display !== 'inline',
      );
      expect(cut, name).toBe(false);
      const box = (await shown.boundingBox())!;
      const tile = (await page.locator('.map-node.troubled', { hasText: name }).boundingBox())!;
      expect(box.x + box.width).toBeLessThanOrEqual(tile.x + tile.width);
    }
  });
});

describe('a loss that is not finite', () => {
  it('is red in the header and in the list of jobs', async () => {
    jobOf(42).progress!.loss = 'NaN';
    const page = await visit('/jobs/42');
    await page.locator('.job-header .not-finite.tone-bad', { hasText: 'NaN' }).waitFor();
    await page.goto(`${server.url}/jobs`);
    await page.locator('tbody .not-finite', { hasText: 'NaN' }).waitFor();
  });

  it('is one range on the chart, and red above it', async () => {
    server.notFinite = { first: 2_600, last: 3_200 };
    const page = await visit('/jobs/42');
    const loss = page.getByRole('region', { name: 'Loss', exact: true });
    await loss.locator('.reading .tone-bad', { hasText: 'NaN' }).waitFor();
    const plot = loss.locator('.u-over');
    const box = (await plot.boundingBox())!;
    const texts = new Set<string>();
    for (const share of [0.87, 0.92, 0.97]) {
      await page.mouse.move(box.x + box.width * share, box.y + 80);
      const range = loss.locator('.marker-text', { hasText: 'NaN' });
      await range.waitFor();
      texts.add((await range.textContent())!);
    }
    expect([...texts]).toHaveLength(1);
    expect([...texts][0]).toMatch(/^NaN, steps 2\d{3} to 3104$/);
  });
});

describe('the last step', () => {
  it('has its age in the header, with a sign when it is late', async () => {
    const page = await visit('/jobs/42');
    await page.locator('.step-age', { hasText: 'reported now' }).waitFor();
    const job = jobOf(42);
    job.progress!.time_ms -= 300_000;
    job.health = { word: 'stalled', findings: [], steps_at_risk: 0 };
    const late = page.locator('.step-age.tone-warn', { hasText: 'reported 5m ago' });
    // Publishes repeatedly until the page shows the change, because the page's stream may be
    // reconnecting to get the topics of the job.
    const published = () => {
      server.publish(job);
      return late.count();
    };
    await expect.poll(published, { timeout: 30_000 }).toBe(1);
  });
});

describe('a failed job', () => {
  it('says why in the list of jobs', async () => {
    const page = await visit('/jobs');
    const row = page.locator('tbody tr', { hasText: 'tokenizer-check' });
    await row.getByText('rank 0 on gpu03 exited with 65').waitFor();
    expect(await page.locator('.row-reason').count()).toBe(1);
  });

  it('has the rank of the verdict open among its ranks', async () => {
    const job = jobOf(42);
    job.attempts = [job.attempts[0]!];
    job.state = 'failed';
    const page = await visit('/jobs/42/ranks');
    await page.getByRole('region', { name: 'Rank 11', exact: true }).waitFor();
    expect(await page.locator('.rank[data-rank="11"]').getAttribute('aria-pressed')).toBe('true');
  });
});

describe('ranks', () => {
  it('are coloured by memory and by waiting for data', async () => {
    const page = await visit('/jobs/42/ranks');
    const hottest = () => page.locator('.rank.heat-7').getAttribute('data-rank');
    await page.locator('.rank[data-rank="11"].heat-5, .rank[data-rank="11"].heat-6').waitFor();
    await page.getByRole('radio', { name: 'memory' }).check({ force: true });
    await page.waitForURL(/color=memory/);
    await expect.poll(hottest).toBe('3');
    await page.getByRole('radio', { name: 'data stall' }).check({ force: true });
    await expect.poll(hottest).toBe('5');
    await page.getByText('longest data wait').waitFor();
  });
});

describe('a step', () => {
  it('has a curve for each of its parts, with the values in a legend', async () => {
    const page = await visit('/jobs/42');
    const panel = page.getByRole('region', { name: 'Step time by part' });
    const names = panel.locator('.line-legend li');
    await names.first().waitFor();
    expect((await names.allTextContents()).map((text) => text.replace(/ [\d.]+ m?s$/, ''))).toEqual(
      ['Compute', 'Optimizer', 'Wait for tp', 'Wait for dp', 'Wait for all ranks'],
    );
    const { width, height } = (await panel.locator('.u-over').boundingBox())!;
    await panel.locator('.u-over').hover({ position: { x: width / 2, y: height / 2 } });
    await panel.locator('.reading .at', { hasText: 'step ' }).waitFor();
  });

  it('tells the slow rank by its compute, and shows its parts', async () => {
    const page = await visit('/jobs/42/ranks?color=compute');
    await page.locator('.stragglers', { hasText: 'slow rank: 11 on gpu02 (1.23×)' }).waitFor();
    await page.locator('.rank[data-rank="11"].heat-5').click();
    const detail = page.getByRole('region', { name: 'Rank 11', exact: true });
    await detail.locator('.part', { hasText: 'Compute7.4 s' }).waitFor();
    expect(await detail.locator('.part').count()).toBe(5);
    await page.getByRole('radio', { name: 'waits' }).check({ force: true });
    await page.getByText('longest wait in a step').waitFor();
  });
});

describe('a job whose ranks wait for one that does not come', () => {
  it('says so in its header, and which operation each rank waits in', async () => {
    const { pending, flights } = server.cluster;
    pending.set(42, {
      code: 'stalled',
      message: 'rank 5 is blocking the gang: has not joined all-reduce 123 of group tp4',
      advice: '`trainyard logs 42 --rank 5 --tail 20` shows its last output',
      queue_position: 0,
      blocking_job_id: 0,
    });
    const operation = { group: 'tp4', ranks: '4-5', sequence: 123, operation: 'all-reduce' };
    const entered_ms = NOW - 40_000;
    flights.set(4, [{ ...operation, bytes: 4096, queued_ms: entered_ms, entered_ms }]);
    const page = await visit('/jobs/42');
    const reason = page.locator('.job-header .reason.tone-warn');
    await reason.filter({ hasText: 'rank 5 is blocking' }).waitFor();
    await page.goto(`${server.url}/jobs/42/ranks?rank=4`);
    const wait = /^all-reduce 123 of group tp4 \(ranks 4-5\), entered \d+\w ago$/;
    await page.getByText(wait).waitFor();
  });
});

describe('the output of ranks', () => {
  it.each([LAPTOP, { width: 1440, height: 900 }])('fits into the window: %o', async (viewport) => {
    const page = await visit('/jobs/42/logs', viewport);
    await page.locator('.log-row').first().waitFor();
    const { page: whole, pane, bottom } = await page.evaluate(() => {
      const log = document.querySelector('.log')!;
      return {
        page: document.documentElement.scrollHeight - innerHeight,
        pane: log.clientHeight,
        bottom: log.getBoundingClientRect().bottom,
      };
    });
    expect(whole).toBeLessThanOrEqual(0);
    expect(pane).toBeGreaterThan(150);
    expect(bottom).toBeGreaterThan(viewport.height - 60);
  });
});

describe('a job submitted again', () => {
  it('goes on from its newest checkpoint, or says that it does not', async () => {
    jobOf(42).state = 'stopped';
    const page = await visit('/jobs/42');
    await page.getByRole('button', { name: 'Submit again…' }).click();
    const dialog = page.getByRole('dialog');
    const start = 'The new job starts at step 3,000, from /ckpt/llama3-8b-c4/step-3000.';
    await dialog.getByText(start).waitFor();
    await dialog.getByText('.checkpoint.resume_from = ').waitFor();
    const box = dialog.getByRole('checkbox', { name: /Resume from the checkpoint/ });
    const sent = page.waitForRequest((r) => r.method() === 'POST');
    await box.uncheck();
    await dialog.getByText('The new job starts at step 0.').waitFor();
    await box.check();
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    const { spec } = (await sent).postDataJSON() as { spec: { checkpoint: object } };
    expect(spec.checkpoint).toMatchObject({ resume_from: '/ckpt/llama3-8b-c4/step-3000' });
  });

  it('says that it begins anew where there is no checkpoint', async () => {
    const page = await visit('/jobs/40');
    await page.getByRole('button', { name: 'Submit again…' }).click();
    await page.getByText('has no checkpoint. The new job starts at step 0.').waitFor();
  });
});
