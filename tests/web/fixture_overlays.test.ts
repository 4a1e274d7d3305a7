// Tests the curves that are drawn on top of a job's own curves: evaluation sets and a baseline.
// Uses the fixture server.
import { describe, expect, it } from 'vitest';
import { violationsOf } from './axe';
import { FixtureBrowser } from './fixture_browser';
import { WIDE } from './browser';
import { KEYS_OF_TWO_SETS } from './fixture_series';

const fixture = new FixtureBrowser();

describe('evaluation sets', () => {
  it('are points of their own colors on the losses, with their lowest loss', async () => {
    fixture.server.keys = KEYS_OF_TWO_SETS;
    const page = await fixture.visit('/jobs/42');
    const loss = page.getByRole('region', { name: 'Loss', exact: true });
    const sets = loss.getByRole('list', { name: 'Evaluation sets' }).locator('li');
    await sets.filter({ hasText: /^code 1\.\d+ lowest 1\.\d+ at step 2,\d+$/ }).waitFor();
    expect(await sets.first().textContent()).toMatch(/^val 3\.\d+ lowest 3\.\d+ at step 3,000$/);
    expect(await sets.locator('.point-sample.run-2, .point-sample.run-3').count()).toBe(2);
    const box = (await loss.locator('.u-over').boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + 80);
    await loss.locator('.reading', { hasText: /validation 3\.\d+.*code 1\.\d+/ }).waitFor();
    const own = page.getByRole('region', { name: 'Evaluation losses' });
    // An evaluation set has one color on both panels.
    expect(await own.locator('.line-legend path.run-2, .line-legend path.run-3').count()).toBe(2);
  });

  it('have no panel of their own when there is only one', async () => {
    const page = await fixture.visit('/jobs/42');
    await page.getByRole('list', { name: 'Evaluation sets' }).locator('li').waitFor();
    expect(await page.getByRole('region', { name: 'Evaluation losses' }).count()).toBe(0);
  });
});

describe('a baseline', () => {
  it('is dashed and named on every panel, on every view of the job', async () => {
    const page = await fixture.visit('/jobs/42', WIDE);
    const choice = page.getByRole('combobox', { name: 'Baseline' });
    await choice.focus();
    await choice.selectOption('43');
    await page.waitForURL(/baseline=43/);
    const name = page.locator('.legend').getByRole('link', { name: 'llama3-1b-wsd #43' });
    await name.waitFor();
    const loss = page.getByRole('region', { name: 'Loss', exact: true });
    const box = (await loss.locator('.u-over').boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.2, box.y + 80);
    await loss.locator('.reading', { hasText: /llama3-1b-wsd #43 \d/ }).waitFor();
    const parts = page.getByRole('region', { name: 'Step time by part' });
    await parts.locator('li', { hasText: /^llama3-1b-wsd #43: sum \d/ }).waitFor();
    await page.getByRole('link', { name: 'Ranks', exact: true }).click();
    await page.waitForURL(/ranks\?baseline=43/);
  });

  it('does not extend the axis beyond the job', async () => {
    const page = await fixture.visit('/jobs/43?baseline=42');
    const loss = page.getByRole('region', { name: 'Loss', exact: true });
    await page.locator('.legend').getByRole('link', { name: 'llama3-8b-c4 #42' }).waitFor();
    const box = (await loss.locator('.u-over').boundingBox())!;
    await page.mouse.move(box.x + box.width - 3, box.y + 80);
    await loss.locator('.reading', { hasText: 'step 81' }).waitFor();
  });

  it('that does not exist is an error, and can be removed', async () => {
    const page = await fixture.visit('/jobs/42?baseline=999');
    await page.getByRole('alert').getByText('There is no job "999"').waitFor();
    await page.getByRole('region', { name: 'Loss', exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Baseline' }).selectOption('');
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  it.each(['light', 'dark'] as const)('has no accessibility findings: %s', async (theme) => {
    fixture.server.keys = KEYS_OF_TWO_SETS;
    const page = await fixture.visit('/jobs/42?baseline=43', WIDE, theme);
    await page.locator('.legend').getByRole('link', { name: 'llama3-1b-wsd #43' }).waitFor();
    await page.locator('.line-legend').nth(2).waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });
});
