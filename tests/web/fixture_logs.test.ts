// Tests that the log view finds errors: search, levels, the line of a failure, and downloads.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { FixtureBrowser } from './fixture_browser';

const pages = new FixtureBrowser();

const detail = (page: Page) => page.getByRole('region', { name: 'Open line' });
const search = (page: Page) => page.getByRole('searchbox', { name: 'Search all output' });

async function logs(query = '', job = 42): Promise<Page> {
  const page = await pages.visit(`/jobs/${job}/logs${query}`);
  await page.locator('.log-row').first().waitFor();
  return page;
}

describe('a search', () => {
  it('ignores case, and can match case or a regular expression', async () => {
    const page = await logs();
    await search(page).fill('keyerror');
    await page.locator('.log mark', { hasText: 'KeyError' }).waitFor();
    await page.getByRole('button', { name: 'Match case' }).click();
    await page.getByText('No lines match “keyerror”').waitFor();
    await page.waitForURL(/case=1/);
    await page.getByRole('button', { name: 'Match case' }).click();
    await page.getByRole('button', { name: 'Regular expression (RE2)' }).click();
    await search(page).fill("^key\\w+: 'w");
    await page.locator('.log mark', { hasText: "KeyError: 'w" }).waitFor();
    expect(await page.locator('.log-row').count()).toBe(1);
  });

  it('shows the neighbours of a match, and leads to it among all lines', async () => {
    const page = await logs('?grep=keyerror');
    await page.locator('.log-row').click();
    const lines = detail(page).getByRole('listitem');
    await expect.poll(() => lines.count()).toBe(11);
    expect(await lines.nth(5).getAttribute('aria-current')).toBe('true');
    await detail(page).getByRole('button', { name: 'Show all lines here' }).click();
    await expect.poll(() => page.locator('.log-row').count()).toBeGreaterThan(10);
    await page.locator('.log-row.chosen', { hasText: 'KeyError' }).waitFor();
    expect(await search(page).inputValue()).toBe('');
  });
});

describe('levels', () => {
  it('color lines, and select them', async () => {
    const page = await logs();
    // Scrolls a line with a warning into view.
    await page.getByRole('button', { name: 'First line' }).click();
    await page.locator('.log-row.level-warning .log-level', { hasText: 'W' }).first().waitFor();
    await page.getByLabel('Level').selectOption('error');
    await expect.poll(() => page.locator('.log-row').count()).toBe(3);
    expect(await page.locator('.log-row.level-error').count()).toBe(3);
  });

  it('lead from error to error by button and key', async () => {
    const page = await logs();
    const chosen = (text: string) => page.locator('.log-row.chosen', { hasText: text }).waitFor();
    await page.getByRole('button', { name: 'Next error' }).click();
    await chosen('metrics server');
    await page.keyboard.press('e');
    await chosen('KeyError');
    await page.keyboard.press('e');
    await chosen('token id');
    await page.keyboard.press('e');
    await page.getByRole('status').filter({ hasText: 'No later error' }).waitFor();
    await page.keyboard.press('Shift+E');
    await chosen('KeyError');
  });
});

describe('the log of a failed job', () => {
  it('opens at the line of the error, with the rank of the verdict', async () => {
    const page = await logs('', 39);
    await page.locator('.log-row.chosen.level-error', { hasText: 'token id 128263' }).waitFor();
    await page.waitForURL(/attempt=1&line=1\.0\.\d+&ranks=0/);
    await page.getByLabel('Ranks').fill('');
    await page.getByLabel('Ranks').press('Enter');
    await expect
      .poll(async () => new Set(await page.locator('.log-rank').allTextContents()).size)
      .toBe(4);
  });

  it('opens elsewhere where the address says so', async () => {
    const page = await logs('?ranks=1', 39);
    await page.waitForURL(/\?ranks=1$/);
    expect(await detail(page).count()).toBe(0);
  });
});

describe('the download', () => {
  it('has the whole log, or all matching lines', async () => {
    const page = await logs('?ranks=0');
    const saved = async (name: string) => {
      const begun = page.waitForEvent('download');
      await page.getByRole('button', { name }).click();
      return (await readFile(await (await begun).path(), 'utf8')).trimEnd().split('\n');
    };
    expect(await saved('Whole log')).toHaveLength(7_500);
    await page.getByLabel('Level').selectOption('error');
    const errors = await saved('Matching lines');
    expect(errors).toHaveLength(3);
    expect(errors[1]).toBe("KeyError: 'weight'");
  });
});
