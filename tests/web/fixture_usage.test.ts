// Tests GPU time and its cost on the pages, with the fixture server.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { violationsOf } from './axe';
import { PHONE, WIDE, type Theme } from './browser';
import { FixtureBrowser } from './fixture_browser';

const fixture = new FixtureBrowser();
const PRICE = { gpu_hour_price: 2.5, currency: 'USD' };
const MONEY = /USD|cost/i;

describe('the page Usage', () => {
  it('shows the GPU-hours and the cost of each user, and their sum', async () => {
    fixture.server.price = PRICE;
    const page = await fixture.visit('/usage');
    const table = page.getByRole('region', { name: 'Usage by group' }).getByRole('table');
    const row = (name: RegExp) => table.getByRole('row', { name }).waitFor();
    await row(/^ada 222\.2 555\.56 USD .*100\.0 % 2 0 2h 00m$/);
    await row(/^grace 111\.1 277\.78 USD .*75\.0 % 2 3 0 s$/);
    await row(/^Total 333\.3 833\.33 USD .*91\.7 % /);
    await page.getByText('Price: 2.5 USD per GPU-hour.').waitFor();
    const phases = page.getByRole('region', { name: 'Slot time by phase' });
    await phases.getByRole('row', { name: /^restart 27\.8 8\.3 %$/ }).waitFor();
  });

  it('shows no money without a price', async () => {
    const page = await fixture.visit('/usage?by=week');
    const table = page.getByRole('region', { name: 'Usage by group' });
    await table.getByRole('row', { name: /^2026-11-23 166\.7 .*100\.0 %/ }).waitFor();
    expect(await table.innerText()).not.toMatch(MONEY);
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    const card = page.getByRole('region', { name: 'Ledger' });
    await card.getByRole('row', { name: /^grace/ }).waitFor();
    expect(await card.innerText()).not.toMatch(MONEY);
  });

  it('leads from a user to the user’s jobs, and from there to a job', async () => {
    const page = await fixture.visit('/usage');
    await page.getByRole('link', { name: 'grace' }).click();
    await page.waitForURL(/\/usage\?by=job&period=28d&user=grace$/);
    await page.getByRole('link', { name: 'sweep' }).waitFor();
    expect(await page.getByRole('link', { name: 'llama3-8b', exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'User grace' }).click();
    await page.getByRole('link', { name: 'llama3-8b', exact: true }).click();
    await page.waitForURL(/\/jobs\/42$/);
  });

  it('saves the table as CSV', async () => {
    fixture.server.price = PRICE;
    const page = await fixture.visit('/usage');
    await page.getByText('By', { exact: true }).waitFor();
    await page.getByLabel('Job', { exact: true }).check();
    await page.getByRole('link', { name: 'sweep' }).waitFor();
    const begun = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const file = await begun;
    expect(file.suggestedFilename()).toMatch(/^usage-by-job-\d{4}-\d\d-\d\d\.csv$/);
    const [head, first] = (await readFile(await file.path(), 'utf8')).split('\r\n');
    expect(head).toContain('job,job_id,jobs,restarts,queued_hours,slot_hours,gpu_hours,cost');
    expect(first).toMatch(/^llama3-8b,42,2,0,2\.0000,222\.2222,222\.2222,555\.5/);
  });

  it.each<[Theme, typeof WIDE]>([
    ['light', WIDE],
    ['dark', WIDE],
    ['light', PHONE],
    ['dark', PHONE],
  ])('is accessible: %s %o', async (theme, viewport) => {
    fixture.server.price = PRICE;
    const page = await fixture.visit('/usage?by=job', viewport, theme);
    await page.getByRole('link', { name: 'sweep' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(wide).toBe(false);
  });
});

describe('the ledger of a job', () => {
  const ledger = { name: 'Time by phase' };

  it('has the GPU-hours of each phase and the cost', async () => {
    fixture.server.price = PRICE;
    const page = await fixture.visit('/jobs/42/timeline');
    const region = page.getByRole('region', ledger);
    await region.getByRole('columnheader', { name: 'GPU-hours' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await region.getByText(/^cost [\d,]+\.\d\d USD$/).waitFor();
    await region.getByRole('link', { name: 'Usage by week' }).click();
    await page.getByRole('button', { name: 'Job #42' }).waitFor();
    await page.getByRole('row', { name: /^2026-11-23 166\.7 416\.67 USD/ }).waitFor();
  });

  it('has no cost without a price', async () => {
    const page = await fixture.visit('/jobs/42/timeline');
    const region = page.getByRole('region', ledger);
    await region.getByRole('columnheader', { name: 'GPU-hours' }).waitFor();
    expect(await region.innerText()).not.toMatch(MONEY);
  });
});
