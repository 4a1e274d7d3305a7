// Tests the elements of an array of 1,000,000, with the fixture server.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { COUNTS } from './fixture_array';
import { FixtureBrowser } from './fixture_browser';

const pages = new FixtureBrowser();
const folder = process.env['SCREENSHOTS'];

beforeEach(() => {
  pages.job(42).array = COUNTS;
});

it('shows one page of the elements, with their settings and results', async () => {
  const page = await pages.visit('/jobs/42/elements');
  const table = page.getByRole('region', { name: 'Elements of the array' });
  await table.getByText('#1000', { exact: true }).waitFor();
  await page.getByText('1,000,000 elements: 200,000 succeeded, 1,000 failed').waitFor();
  await page.getByText('Rows 1 to 1,000 of 250,000').waitFor();
  await table.getByText('optimizer.lr').waitFor();
  // Only the visible rows are in the document.
  expect(await table.getByRole('row').count()).toBeLessThan(100);
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, 'elements.png') });
});

it('shows the decisions of the halving by step', async () => {
  const page = await pages.visit('/jobs/42/elements');
  const table = page.getByRole('region', { name: 'Decisions of the halving' });
  const row = table.getByRole('row', { name: /^500/ });
  await row.getByText('3.400').waitFor();
  expect(await row.getByText('5', { exact: true }).count()).toBe(2);
});

it('goes to the next page, and sorts all elements', async () => {
  const page = await pages.visit('/jobs/42/elements');
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await page.getByText('Rows 1,001 to 2,000 of 250,000').waitFor();
  await page.getByText('#2000', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Validation loss' }).click();
  await page.getByText('Rows 1 to 1,000 of 250,000').waitFor();
  await page.getByText('#250999', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Previous' }).isDisabled()).toBe(true);
});
