// Tests the pages with a real controller and two real workers. The programs are in TRAINYARD_BIN.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TIMEOUT_MS, launch, openPage } from './browser';
import { LiveCluster } from './cluster';

const programs = process.env['TRAINYARD_BIN'] ?? '';
const built = existsSync(join(programs, 'trainyard-controller'));
const folder = process.env['SCREENSHOTS'];

describe.runIf(programs !== '' && built)('a live run', () => {
  let browser: Browser;
  let job: number;
  const cluster = new LiveCluster(programs);

  beforeAll(async () => {
    browser = await launch();
    await cluster.start(2);
    job = await cluster.submitPrinter('talker', 3_000);
    if (folder) mkdirSync(folder, { recursive: true });
  });
  afterAll(async () => {
    await browser?.close();
    await cluster.stop();
  });

  it('shows the job on the overview, in the table and on its slots', async () => {
    const { page, context, complaints } = await openPage(browser, `${cluster.url}/`);
    await page.locator('.run').getByText('talker').waitFor();
    await page.locator('.map').getByText('node1').waitFor();
    expect(await page.locator('a.slot').count()).toBe(2);
    await page.locator('.events').getByText('attempt 1 running').waitFor();
    if (folder) await page.screenshot({ path: join(folder, 'live-overview.png') });
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('draws the curve while it grows', async () => {
    const { page, context, complaints } = await openPage(browser, `${cluster.url}/jobs/${job}`);
    const points = page.getByRole('region', { name: 'Loss' }).getByText(/^\d+ points$/);
    await points.waitFor();
    const drawn = async () => Number((await points.textContent())!.split(' ')[0]);
    const before = await drawn();
    await expect.poll(drawn, { timeout: TIMEOUT_MS }).toBeGreaterThanOrEqual(before + 10);
    if (folder) await page.screenshot({ path: join(folder, 'live-curves.png') });
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('follows the output and finds text in it', async () => {
    const { page, context, complaints } = await openPage(
      browser,
      `${cluster.url}/jobs/${job}/logs`,
    );
    const last = async () =>
      Number((await page.locator('.log-text').last().textContent())!.match(/step=(\d+)/)?.[1]);
    await page.locator('.log-text').getByText('step=').first().waitFor();
    const before = await last();
    await expect.poll(last, { timeout: TIMEOUT_MS }).toBeGreaterThan(before);
    await page.getByRole('searchbox', { name: 'Search all output' }).fill('step=7 ');
    await page.locator('.log mark').first().waitFor();
    // One line for each rank.
    expect(await page.locator('.log-row').count()).toBe(2);
    if (folder) await page.screenshot({ path: join(folder, 'live-logs.png') });
    expect(complaints).toEqual([]);
    await context.close();
  });

  it.each(['ranks', 'timeline', 'checkpoints', 'config', 'events'])('shows %s', async (tab) => {
    const url = `${cluster.url}/jobs/${job}/${tab}`;
    const { page, context, complaints } = await openPage(browser, url);
    await page.locator('.tab-content > *').first().waitFor();
    await page.locator('.tab-content .skeleton').first().waitFor({ state: 'detached' });
    expect(await page.locator('.tab-content .failure').count()).toBe(0);
    if (folder) await page.screenshot({ path: join(folder, `live-${tab}.png`) });
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('says that the controller was killed, and goes on when it is back', async () => {
    const { page, context, complaints } = await openPage(browser, `${cluster.url}/jobs/${job}`);
    await page.getByText('live', { exact: true }).waitFor();
    await cluster.killController();
    await page.getByText(/^stale \d/).waitFor();
    await cluster.startController();
    await page.getByText('live', { exact: true }).waitFor();
    const points = page.getByRole('region', { name: 'Loss' }).getByText(/^\d+ points$/);
    const before = await points.textContent();
    await expect.poll(() => points.textContent(), { timeout: TIMEOUT_MS }).not.toBe(before);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('cordons a node and lifts it again', async () => {
    const { page, context } = await openPage(browser, `${cluster.url}/nodes`);
    await page.getByRole('button', { name: 'Cordon node1' }).click();
    await page.getByLabel('Reason').fill('new fan');
    await page.getByRole('button', { name: 'Cordon', exact: true }).click();
    await page.getByText('new fan').first().waitFor();
    await page.getByRole('button', { name: 'Uncordon node1' }).click();
    await page.getByRole('button', { name: 'Uncordon', exact: true }).click();
    await page.getByRole('button', { name: 'Cordon node1' }).waitFor();
    await context.close();
  });

  it('tells what happens to a job as it happens, and lists it while it matches', async () => {
    const { page, context } = await openPage(browser, `${cluster.url}/jobs?states=queued`);
    await page.getByText('No matching jobs').waitFor();
    const waiting = await cluster.submitPrinter('waiting', 10);
    const row = page.getByRole('link', { name: 'waiting' });
    await row.waitFor();
    const events = await context.newPage();
    await events.goto(`${cluster.url}/jobs/${waiting}/events`);
    await events.locator('.events').getByText('submitted').waitFor();
    await events.getByText('live', { exact: true }).waitFor();
    await cluster.post(`/jobs/${waiting}/kill`, {});
    await events.locator('.events').getByText('job stopped').waitFor();
    await row.waitFor({ state: 'detached' });
    await page.getByText('No matching jobs').waitFor();
    await context.close();
  });

  it('tells the starts of all ranks in one line', async () => {
    const { page, context } = await openPage(browser, `${cluster.url}/jobs/${job}/events`);
    await page.locator('.events').getByText('2 ranks started').waitFor();
    await context.close();
  });

  it('shows the last heartbeat of healthy nodes', async () => {
    const { page, context } = await openPage(browser, `${cluster.url}/nodes`);
    const heartbeat = page.locator('tbody tr').first().locator('td').nth(5);
    await heartbeat.waitFor();
    const newest = async () => {
      const response = await page.waitForResponse((one) => one.url().includes('last_heartbeat_ms'));
      return ((await response.json()) as { nodes: { last_heartbeat_ms: number }[] }).nodes[0]!
        .last_heartbeat_ms;
    };
    // The page sends another request and displays the newer heartbeat.
    const first = await newest();
    expect(await newest()).toBeGreaterThan(first);
    const age = await heartbeat.textContent();
    expect(Number(/^(\d+) s/.exec(age ?? '')?.[1] ?? 0), String(age)).toBeLessThan(15);
    await context.close();
  });

  it('kills the job after a question, and submits it again', async () => {
    const { page, context } = await openPage(browser, `${cluster.url}/jobs/${job}`);
    await page.getByRole('button', { name: 'Kill…' }).click();
    await page.getByRole('button', { name: 'Kill job' }).click();
    await page.locator('.job-title').getByText('stopped').waitFor();
    await page.getByRole('button', { name: 'Submit again…' }).click();
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await page.waitForURL(new RegExp(`/jobs/(?!${job}$)\\d+$`));
    await page
      .locator('.job-title')
      .getByText(/starting|running/)
      .waitFor();
    await context.close();
  });
});
