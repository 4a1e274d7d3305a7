// Tests the page of the data set of a data job with the fixture server.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { violationsOf } from './axe';
import type { Theme } from './browser';
import { FixtureBrowser } from './fixture_browser';

const folder = process.env['SCREENSHOTS'];
const SCREEN = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

const pages = new FixtureBrowser();

function visit(path: string, theme: Theme = 'light', viewport = SCREEN): Promise<Page> {
  return pages.visit(path, viewport, theme);
}

const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

function setKind(kind: 'data' | 'train'): void {
  pages.job(42).spec!.kind = kind;
}

beforeEach(() => setKind('data'));

describe('the data set of a job', () => {
  it('is a tab', async () => {
    const page = await visit('/jobs/42');
    await page.getByRole('link', { name: 'Data', exact: true }).click();
    await panel(page, 'Funnel').waitFor();
  });

  it('is linked with the jobs that train on it', async () => {
    const page = await visit('/jobs/42/data');
    const sets = panel(page, 'Data sets');
    await sets.getByRole('columnheader', { name: 'Trained on by' }).waitFor();
    await sets.getByRole('row', { name: /tokenize 8b337a0252c17b16 8,100,000/ }).waitFor();
    await sets.getByText('and 3 older jobs').waitFor();
    await sets.getByRole('link', { name: 'llama3-8b #40' }).click();
    await page.waitForURL('**/jobs/40');
  });

  it('is linked from the job that trains on it', async () => {
    setKind('train');
    const page = await visit('/jobs/42');
    await page.getByRole('link', { name: 'Data', exact: true }).click();
    const sets = panel(page, 'Data sets');
    await sets.getByRole('columnheader', { name: 'Made by' }).waitFor();
    await sets.getByRole('row', { name: '/data/text 0 —' }).waitFor();
    await sets.getByRole('link', { name: 'corpus #43' }).click();
    await page.waitForURL('**/jobs/43/data');
  });

  it('shows the block that has been in work for the longest time', async () => {
    pages.job(42).progress!.data = {
      stage: 2,
      stages: 5,
      documents: 120_000,
      dropped_documents: 3_000,
      bytes: 5e9,
      bytes_per_second: 80e6,
      tokens: 0,
      phase: 'blocks',
      slowest_block: { number: 17, seconds: 75, rank: 3 },
      read_documents: 120_000,
    };
    const page = await visit('/jobs/42');
    await page.getByText('block 17 on rank 3').waitFor();
    await page.getByText('1m 15s').waitFor();
  });

  it('is unknown until the training job has started', async () => {
    setKind('train');
    pages.server.dataSteps = 0;
    const page = await visit('/jobs/42/data');
    await page.getByText('No data sets reported yet').waitFor();
  });

  it('has a funnel with the reasons of drops', async () => {
    const page = await visit('/jobs/42/data');
    const funnel = panel(page, 'Funnel');
    await funnel.getByRole('row', { name: 'Input 24,000 100.00 % 45.8 MiB' }).waitFor();
    await funnel.getByRole('row', { name: 'words −3,600 15.00 % 1.4 MiB' }).waitFor();
    await funnel.getByRole('row', { name: /^dedup 17,820 74.25 %/ }).waitFor();
    await funnel.getByRole('row', { name: 'tokenize: train 16,930 70.54 % —' }).waitFor();
    await page.getByText('1 of 24 inputs has changed since').waitFor();
  });

  it('has sources, lengths and tokens', async () => {
    const page = await visit('/jobs/42/data');
    const sources = panel(page, 'Sources');
    await sources
      .getByRole('row', { name: '/data/web 20,000 14,900 28.6 MiB 6.82M 80.0 % 4.40' })
      .waitFor();
    await panel(page, 'Lengths').getByRole('row', { name: '64 B to 128 B 900' }).waitFor();
    await panel(page, 'Tokens').getByRole('row', { name: 'train 16,930 8,100,000 4.20' }).waitFor();
    const provenance = panel(page, 'Provenance');
    await provenance.getByText('rules: gopher,c4').waitFor();
    await provenance.getByText('(4.0 × mean)').first().waitFor();
  });

  it('shows dropped documents with their reason', async () => {
    const page = await visit('/jobs/42/data');
    const dropped = panel(page, 'Dropped documents');
    expect(await dropped.getByText('Click me!').isVisible()).toBe(false);
    await dropped.getByText('filter: words').focus();
    await page.keyboard.press('Enter');
    await dropped.getByText('Click me!').waitFor();
    await dropped.getByText('{"rule":"words","value":2}').waitFor();
    await dropped.getByText('filter: symbols').click();
    await dropped.getByText('… 4.9 KiB in all').waitFor();
  });

  it('shows the difference of duplicates', async () => {
    const page = await visit('/jobs/42/data');
    const duplicates = panel(page, 'Duplicates');
    await duplicates.getByText('the largest of 310 clusters').waitFor();
    await duplicates.getByText('7 documents like').click();
    await duplicates.getByText('similarity 0.83', { exact: true }).waitFor();
    const words = (tag: string) => duplicates.locator(`pre ${tag}`).allTextContents();
    expect((await words('del')).map((text) => text.trim())).toEqual(['night', 'old']);
    expect((await words('ins')).map((text) => text.trim())).toEqual(['morning', 'new']);
  });

  it('shows a text as several tokenizers divide it', async () => {
    const page = await visit('/jobs/42/data');
    const tokenizers = panel(page, 'Tokenizers');
    await tokenizers.getByText('train_tokenizer/tokenizer.json').waitFor();
    const pieces = tokenizers.locator('pre').first().locator('span');
    expect(await pieces.allTextContents()).toEqual(['Günther', '’s 2 trains 😀']);
    expect(await pieces.nth(1).getAttribute('title')).toBe('8, 9');
    await tokenizers.getByRole('radio', { name: 'kept:8910' }).check({ force: true });
    await tokenizers.getByText('the beginning of document kept:8910').waitFor();
  });

  it('grows with each step', async () => {
    pages.server.dataSteps = 0;
    const page = await visit('/jobs/42/data');
    await page.getByText('No report of the data set yet').waitFor();
    pages.server.dataSteps = 1;
    const later = await visit('/jobs/42/data');
    await panel(later, 'Funnel')
      .getByRole('row', { name: /^filter 19,200/ })
      .waitFor();
    expect(await panel(later, 'Duplicates').count()).toBe(0);
    expect(await panel(later, 'Tokens').count()).toBe(0);
  });

  it.each(
    (['light', 'dark'] as const).flatMap((theme) =>
      [SCREEN, PHONE].map((viewport) => [theme, viewport] as const),
    ),
  )('breaks no rule of axe: %s, %o', async (theme, viewport) => {
    const page = await visit('/jobs/42/data', theme, viewport);
    await panel(page, 'Provenance').waitFor();
    for (const summary of await page.locator('summary').all()) await summary.click();
    expect(await violationsOf(page)).toEqual([]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wide).toBeLessThanOrEqual(0);
    if (folder) {
      mkdirSync(folder, { recursive: true });
      const name = `data-${theme}-${viewport.width}.png`;
      await page.screenshot({ path: join(folder, name), fullPage: true });
    }
  });
});
