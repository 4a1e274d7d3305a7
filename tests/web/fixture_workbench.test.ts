// Tests working with the list of jobs: columns, sort orders, saved views, and actions on several
// jobs.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { violationsOf } from './axe';
import { PHONE, WIDE } from './browser';
import { FixtureBrowser } from './fixture_browser';
import { NOW, job } from './fixtures';

const pages = new FixtureBrowser();

const rowsOf = (page: Page) => page.locator('tbody tr');
const namesOf = (page: Page) => rowsOf(page).locator('a[data-row]').allTextContents();
const boxOf = (page: Page, name: string) =>
  page.getByRole('checkbox', { name: new RegExp(`^Select ${name} `) });

async function openJobs(path = '/jobs'): Promise<Page> {
  const page = await pages.visit(path, WIDE);
  await rowsOf(page).first().waitFor();
  // The actions are offered once the controller's capabilities are known.
  await page.getByText('live', { exact: true }).waitFor();
  return page;
}

describe('the columns of the list of jobs', () => {
  it('show the best loss, the curve, the rate, the time left and the restarts', async () => {
    pages.job(42).spec!.restart = { max_restarts: 20, rules: [] };
    const page = await openJobs();
    const row = rowsOf(page).filter({ hasText: 'llama3-8b-c4' });
    const best = pages.job(42).progress!.best_loss as number;
    await row.getByText(best.toFixed(4)).waitFor();
    await row.getByText('512k').waitFor();
    await row.getByText(/^\d+h \d\dm$/).first().waitFor();
    await row.getByText('1 / 20').waitFor();
    await row.getByRole('img', { name: 'Loss of llama3-8b-c4 so far' }).waitFor();
  });

  it('sort, each of them', async () => {
    const page = await openJobs();
    const heads = page.locator('thead th');
    const names = await heads.allInnerTexts();
    for (const name of names.filter((text) => text.trim() !== '' && text !== 'Curve')) {
      const head = heads.filter({ hasText: new RegExp(`^${name}`) });
      await head.getByRole('button').click();
      await page.waitForURL(/sort=/);
      expect(await head.getAttribute('aria-sort'), name).toBe('ascending');
    }
  });

  it('sort by the best loss, and jobs without one are last', async () => {
    pages.job(43).progress!.best_loss = 1.25;
    const page = await openJobs('/jobs?sort=best_loss');
    await expect.poll(async () => (await namesOf(page))[0]).toBe('llama3-1b-wsd');
    await page.getByRole('columnheader', { name: 'Best loss' }).getByRole('button').click();
    await page.waitForURL(/reverse=1/);
    await expect.poll(async () => (await namesOf(page))[0]).toBe('llama3-1b-sweep-b');
    expect((await namesOf(page)).at(-1)).not.toBe('llama3-1b-wsd');
  });

  it('can be chosen, and the choice is in the address', async () => {
    const page = await openJobs();
    await page.getByText('Columns', { exact: true }).first().click();
    await page.getByRole('checkbox', { name: 'Slots' }).click();
    await page.waitForURL(/columns=step,loss,best/);
    const head = page.getByRole('columnheader', { name: 'Slots' });
    await head.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.getByRole('checkbox', { name: 'Slots' }).waitFor({ state: 'hidden' });
    await page.reload();
    await rowsOf(page).first().waitFor();
    expect(await head.count()).toBe(0);
  });
});

describe('a saved view', () => {
  async function save(page: Page, name: string) {
    await page.getByRole('button', { name: /^(Save view|Views)…$/ }).click();
    await page.getByRole('textbox', { name: 'Name of the current view' }).fill(name);
    await page.getByRole('button', { name: 'Save view', exact: true }).click();
  }

  it('is saved, chosen, renamed and deleted', async () => {
    const page = await openJobs('/jobs?sort=best_loss&q=llama&columns=best');
    await save(page, 'best runs');
    const dialog = page.getByRole('dialog', { name: 'Saved views' });
    await dialog.getByText('The current view is saved as “best runs”.').waitFor();
    await page.keyboard.press('Escape');
    const choice = page.getByRole('combobox', { name: 'View' });
    await choice.selectOption('All jobs');
    await page.waitForURL(/\/jobs$/);
    await page.reload();
    await choice.selectOption('best runs');
    await page.waitForURL(/\/jobs\?columns=best&q=llama&sort=best_loss$/);
    await page.getByRole('button', { name: 'Views…' }).click();
    await dialog.getByRole('button', { name: 'Rename best runs' }).click();
    await dialog.getByRole('textbox', { name: 'New name of best runs' }).fill('the best');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Delete the best' }).click();
    await page.keyboard.press('Escape');
    await choice.waitFor({ state: 'detached' });
  });

  it('needs a name that no other view has', async () => {
    const page = await openJobs('/jobs?q=a');
    await save(page, 'mine');
    await page.keyboard.press('Escape');
    await page.getByRole('searchbox').fill('b');
    await page.waitForURL(/q=b/);
    await save(page, ' mine ');
    await page.getByText('A view named “mine” exists. Choose another name.').waitFor();
  });
});

describe('an action on several jobs', () => {
  it('applies to a range of rows, and reports the result of each job', async () => {
    pages.job(42).health = {
      word: 'unsaved',
      findings: [
        {
          word: 'unsaved',
          since_ms: NOW - 600_000,
          ranks: [],
          node: '',
          message: 'no checkpoint since step 3000',
          advice: 'free disk space',
        },
      ],
      steps_at_risk: 104,
      saved_step: 3_000,
      at_risk_since_ms: NOW - 900_000,
    };
    pages.server.refusals.set(43, 'job 43 has ended');
    const page = await openJobs('/jobs?sort=newest');
    const names = await namesOf(page);
    await boxOf(page, names[0]!).click();
    await boxOf(page, names.at(-1)!).click({ modifiers: ['Shift'] });
    await page.getByText(`${names.length} selected`).waitFor();
    const tools = page.getByRole('group', { name: 'Selected jobs' });
    await tools.getByRole('button', { name: 'Stop…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 job loses up to 104 steps if you stop it now.').waitFor();
    const lines = dialog.getByRole('list', { name: 'Jobs' }).getByRole('listitem');
    const first = lines.first();
    await first.getByText('stopping now loses 104 steps').waitFor();
    await lines.filter({ hasText: '#40' }).getByText('has ended (stopped)').waitFor();
    await dialog.getByRole('button', { name: /^Stop \d+ jobs$/ }).click();
    await first.getByText('stop requested').waitFor();
    await lines.filter({ hasText: '#43' }).getByText('job 43 has ended').waitFor();
    await dialog.getByText(/jobs: stop requested\. 1 failed\./).waitFor();
    await dialog.locator('footer').getByRole('button', { name: 'Close' }).click();
    expect(pages.job(42).state).toBe('stopping');
    expect(pages.job(43).state).toBe('running');
  });

  it('takes at most 200 jobs', async () => {
    const { jobs } = pages.server.cluster;
    for (let id = 100; id < 400; id++) jobs.push(job(id, `sweep-${id}`, 'queued'));
    const page = await openJobs('/jobs?q=sweep-');
    await page.getByRole('checkbox', { name: 'Select all matching jobs' }).click();
    await page.getByText('200 selected of 302, the most at once').waitFor();
    await boxOf(page, 'sweep-399').click();
    await page.getByText('199 selected', { exact: true }).waitFor();
    await page.getByRole('group', { name: 'Selected jobs' }).getByText('Kill…').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Kill 199 jobs' }).waitFor();
    expect(await dialog.getByRole('listitem').count()).toBe(199);
  });

  it('does not take the jobs of a search that was left before the response', async () => {
    const { jobs } = pages.server.cluster;
    for (let id = 100; id < 300; id++) jobs.push(job(id, `sweep-${id}`, 'queued'));
    const page = await openJobs('/jobs?q=sweep-');
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      void page.route(/\/jobs\?.*limit=200/, async (route) => {
        resolve();
        await new Promise<void>((go) => (answer = go));
        await route.continue().catch(() => undefined);
      });
    });
    await page.getByRole('checkbox', { name: 'Select all matching jobs' }).click();
    await asked;
    await page.getByRole('searchbox').fill('c4');
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    answer();
    await page.unrouteAll({ behavior: 'wait' });
    await boxOf(page, 'llama3-8b-c4').click();
    await page.getByText('1 selected', { exact: true }).waitFor();
  });

  it('can take all matching jobs, and forgets them when the search changes', async () => {
    const page = await openJobs('/jobs?states=running');
    await page.getByRole('checkbox', { name: 'Select all matching jobs' }).click();
    await page.getByText('2 selected').waitFor();
    await page.getByRole('searchbox').fill('c4');
    await page.getByText('2 selected').waitFor({ state: 'detached' });
    await boxOf(page, 'llama3-8b-c4').focus();
    await page.keyboard.press('Space');
    await page.getByText('1 selected').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('1 selected').waitFor({ state: 'detached' });
  });
});

describe.each(['light', 'dark'] as const)('has no violation of accessibility, %s:', (theme) => {
  it.each([WIDE, PHONE])('list and dialogs %o', async (viewport) => {
    const page = await pages.visit('/jobs', viewport, theme);
    await rowsOf(page).first().waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByText('Columns', { exact: true }).first().click();
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Save view…' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    if (viewport === PHONE) return;
    await page.keyboard.press('Escape');
    await page.getByRole('checkbox', { name: 'Select all matching jobs' }).click();
    await page.getByRole('group', { name: 'Selected jobs' }).getByText('Kill…').click();
    await page.getByRole('dialog').getByRole('list', { name: 'Jobs' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });
});
