// Tests the lineage of jobs with the fixture server.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { violationsOf } from './axe';
import { FixtureBrowser } from './fixture_browser';

const pages = new FixtureBrowser();

const relative = (job_id: number, name: string, parent_id: number, step: number) => ({
  ...{ job_id, name, parent_id, step },
  state: name === '' ? 'unspecified' : 'succeeded',
  resumed: step > 0,
});

// Job 42 comes from jobs 38 and 12, and job 43 from job 42.
async function visitJob(viewport = { width: 1280, height: 720 }): Promise<Page> {
  const job = pages.job(42);
  job.resumed_from = { job_id: 38, step: 4_000 };
  job.cloned_from = 39;
  job.children = [43];
  const lineage = {
    job: relative(42, job.name, 38, 4_000),
    ancestors: [relative(38, 'llama3-1b-sweep-a', 12, 0), relative(12, '', 0, 0)],
    descendants: [relative(43, 'llama3-1b-wsd', 42, 3_000)],
    more: false,
  };
  const page = await pages.visit('/jobs/40', viewport);
  await page.route('**/api/v1/jobs/42/lineage', (route) => route.fulfill({ json: lineage }));
  await page.goto(`${pages.server.url}/jobs/42`);
  return page;
}

describe('the header of a job', () => {
  it('names the jobs from which it comes and those that started from it', async () => {
    const page = await visitJob();
    const line = page.locator('.lineage');
    await line.getByText('Resumed from job 38 (step 4,000)').waitFor();
    await line.getByText('Cloned from job 39').waitFor();
    await line.getByText('Jobs that started from this one: 43').waitFor();
    expect(await line.getByRole('link', { name: '43' }).getAttribute('href')).toBe('/jobs/43');
    expect(await violationsOf(page)).toEqual([]);
    await line.getByRole('link', { name: 'job 38' }).click();
    await page.getByRole('heading', { name: 'llama3-1b-sweep-a' }).waitFor();
    expect(await line.count()).toBe(0);
  });
});

describe('the lineage', () => {
  it('is a tree of all generations, which closes when one of its jobs is opened', async () => {
    const page = await visitJob();
    await page.getByRole('button', { name: 'Lineage…' }).click();
    const dialog = page.getByRole('dialog', { name: /^Lineage of / });
    await dialog.getByText('job 12 (deleted)').waitFor();
    const open = dialog.locator('[aria-current=page]');
    expect(await open.textContent()).toBe('llama3-8b-c4 #42');
    await dialog.getByText('resumed from step 3,000').waitFor();
    expect(await dialog.locator('ul ul ul ul').count()).toBe(1);
    expect(await violationsOf(page)).toEqual([]);
    await dialog.getByRole('link', { name: 'llama3-1b-wsd #43' }).click();
    await page.getByRole('heading', { name: 'llama3-1b-wsd' }).waitFor();
    await expect.poll(() => dialog.count()).toBe(0);
  });
});

describe('a job that is submitted again', () => {
  it('names the job that it copies', async () => {
    const page = await pages.visit('/jobs/40');
    await page.getByRole('button', { name: 'Submit again…' }).click();
    await page.getByRole('dialog').getByText(/trainyard clone 40 name=/).waitFor();
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    expect((await sent).postDataJSON()).toMatchObject({ cloned_from: 40 });
  });

  it('has changed settings, and shows an error in them', async () => {
    const page = await pages.visit('/jobs/40');
    await page.getByRole('button', { name: 'Submit again…' }).click();
    const dialog = page.getByRole('dialog');
    const changes = dialog.getByLabel('Changed settings, one per line');
    await changes.fill('optimizer.lrr=3e-4\nenv.NOTE=a b');
    await dialog.getByText("optimizer.lrr=3e-4 'env.NOTE=a b'").waitFor();
    const detail = '--set optimizer.lrr: unknown key; did you mean `optimizer.lr`?';
    const refused = { status: 400, json: { status: 400, detail } };
    await page.route('**/api/v1/jobs', (route) => route.fulfill(refused), { times: 1 });
    await dialog.getByRole('button', { name: 'Submit', exact: true }).click();
    await dialog.getByText(detail).waitFor();
    expect(await changes.getAttribute('aria-invalid')).toBe('true');
    expect(await violationsOf(page)).toEqual([]);
    const folder = process.env['SCREENSHOTS'];
    if (folder) await page.screenshot({ path: `${folder}/form-clone.png` });
    await changes.fill('optimizer.lr=3e-4');
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await dialog.getByRole('button', { name: 'Submit', exact: true }).click();
    const { overrides } = (await sent).postDataJSON() as { overrides: string[] };
    expect(overrides[0]).toMatch(/^name=/);
    expect(overrides.at(-1)).toBe('optimizer.lr=3e-4');
  });
});
