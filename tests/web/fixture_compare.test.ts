// Tests the comparison of runs, with the fixture server.
import { describe, expect, it } from 'vitest';
import { violationsOf } from './axe';
import { WIDE } from './browser';
import { FixtureBrowser } from './fixture_browser';
import { SWEEP, addSweep } from './fixture_sweep';

const fixture = new FixtureBrowser();

async function visitSweep(query = '', viewport = WIDE) {
  addSweep(fixture.server.cluster);
  return fixture.visit(SWEEP + query, viewport);
}

describe('compared runs', () => {
  it('show several metrics at once, which the user chooses', async () => {
    const page = await visitSweep();
    await page.getByRole('region', { name: 'loss', exact: true }).waitFor();
    expect(await page.locator('.compare-panels .panel').count()).toBe(1);
    await page.locator('.menu summary', { hasText: 'Metrics' }).click();
    await page.getByLabel('grad_norm', { exact: true }).check();
    await page.waitForURL(/key=loss,grad_norm/);
    await page.getByRole('region', { name: 'grad_norm', exact: true }).waitFor();
    await page.getByRole('columnheader', { name: 'grad_norm' }).waitFor();
    const option = page.getByRole('checkbox', { name: 'grad_norm' });
    await option.press('Escape');
    await option.waitFor({ state: 'hidden' });
    const plot = page.locator('.compare-panels .u-over').first();
    const box = (await plot.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + 80);
    // The charts share the cursor.
    await page.locator('.compare-panels .reading .at').nth(1).waitFor();
  });

  it('list the settings that matter, and the others when asked', async () => {
    const page = await visitSweep();
    const heads = page.locator('.compare-runs th code');
    await heads.first().waitFor();
    const shown = ['train.global_batch', 'train.precision', 'optimizer.lr'];
    expect(await heads.allTextContents()).toEqual(shown);
    await page.getByLabel(/Show settings that affect neither/).check();
    await page.waitForURL(/settings=all/);
    const all = [...shown, 'checkpoint.dir', 'restart.max_restarts'];
    await heads.nth(all.length - 1).waitFor();
    expect(await heads.allTextContents()).toEqual(all);
  });

  it('have the color of their group, and one line per group', async () => {
    const page = await visitSweep();
    await page.getByLabel('Color by').selectOption('optimizer.lr');
    await page.waitForURL(/by=optimizer.lr/);
    const groups = page.getByRole('list', { name: 'Groups by optimizer.lr' }).locator('li');
    await groups.nth(2).waitFor();
    expect(await groups.count()).toBe(3);
    expect(await groups.first().textContent()).toMatch(/^0\.0001 2 runs \d/);
    const colors = page.locator('.compare-runs .line-sample path.run-1');
    expect(await colors.count()).toBe(2);
    await page.getByRole('radio', { name: 'group means' }).check({ force: true });
    await page.waitForURL(/draw=means/);
    await page.getByText('mean of the group’s runs').waitFor();
  });
});

describe('plots of settings', () => {
  it('show a point per run, by a setting or a result', async () => {
    const page = await visitSweep();
    await page.getByRole('radio', { name: 'scatter' }).check({ force: true });
    await page.waitForURL(/plot=scatter/);
    const byBatch = page.getByRole('region', { name: 'Lowest val_loss by train.global_batch' });
    await byBatch.locator('circle').nth(5).waitFor();
    await byBatch.getByText(/lowest in sweep-0 #100 \(\d/).waitFor();
    await page.getByRole('combobox', { name: 'X', exact: true }).selectOption('train.precision');
    await page
      .getByRole('combobox', { name: 'Y', exact: true })
      .selectOption('mean:tokens_per_second');
    const other = page.getByRole('region', { name: 'Mean tokens_per_second by train.precision' });
    await other.locator('text', { hasText: 'fp8' }).waitFor();
    await other.locator('circle').nth(3).hover();
    await page.locator('.compare-runs tr.picked', { hasText: 'sweep-3' }).waitFor();
  });

  it('show a line per run through the numeric settings', async () => {
    const page = await visitSweep('&plot=parallel&by=optimizer.lr');
    const plot = page.getByRole('img', { name: /: one line per run/ });
    await plot.locator('path').nth(5).waitFor();
    const names = await plot.locator('.axis-name').allTextContents();
    expect(names).toEqual(['global_batch', 'lr', 'Lowest val_loss']);
    await page.getByText('Not shown: 1 other differing setting').waitFor();
    await page.locator('.compare-runs tbody tr').nth(2).hover();
    await plot.locator('g.picked path').waitFor();
  });

  it('load their code when they are opened', async () => {
    const page = await visitSweep();
    const plots = () =>
      page.evaluate(() =>
        performance.getEntriesByType('resource').some(({ name }) => /setting_plots-/.test(name)),
      );
    await page.locator('.compare-runs').waitFor();
    expect(await plots()).toBe(false);
    await page.getByRole('radio', { name: 'parallel' }).check({ force: true });
    await page.locator('.plot.parallel').waitFor();
    expect(await plots()).toBe(true);
  });
});

describe('a comparison', () => {
  it.each(['light', 'dark'] as const)('has no accessibility findings: %s', async (theme) => {
    addSweep(fixture.server.cluster);
    const query = '&by=optimizer.lr&key=loss,grad_norm&settings=all';
    const page = await fixture.visit(`${SWEEP}${query}&plot=scatter`, WIDE, theme);
    await page.locator('.setting-plot circle').first().waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('radio', { name: 'parallel' }).check({ force: true });
    await page.locator('.plot.parallel').waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });
});
