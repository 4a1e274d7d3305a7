// Tests the planner with a real controller and the recipes of the source tree.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { HEADERS } from './access';
import { PHONE, launch, openPage, type OpenPage } from './browser';

const empty = inject('empty');
const seeded = inject('seeded');

const JOB_FILE = `name: small
model:
  {num_layers: 2, hidden_size: 256, ffn_hidden_size: 512, num_attention_heads: 2, vocab_size: 512}
train: {seq_length: 256, global_batch: 64, steps: 10}
`;

let browser: Browser;
let open: OpenPage | undefined;

async function visit(path: string, base = empty, viewport?: typeof PHONE): Promise<Page> {
  open = await openPage(browser, base + path, 'light', viewport);
  return open.page;
}

async function post(path: string, body: object): Promise<void> {
  const response = await fetch(`${seeded}/api/v1${path}`, {
    method: 'POST',
    headers: { ...HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}

const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const figure = (page: Page, name: string) => page.locator('.figure', { hasText: name });

describe.runIf(empty !== '')('planner', () => {
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    await open?.context.close();
    expect(open?.complaints).toEqual([]);
    open = undefined;
  });

  it('plans a recipe, with ranks, memory, time, cost and the layouts that lost', async () => {
    const page = await visit('/planner?recipe=llama3-70b&device=H100&nodes=8');
    await part(page, 'Layout').getByText('layout: {').waitFor();
    await part(page, 'Memory of the fullest GPU').getByText('Saved activations').waitFor();
    await part(page, 'Step time').getByText('Compute').waitFor();
    await part(page, 'Time and cost').getByText('GPU clouds').waitFor();
    await part(page, 'Time and cost')
      .getByRole('img', { name: /^Goodput: .* with a checkpoint every/ })
      .waitFor();
    await part(page, 'Predicted loss')
      .getByText(/Chinchilla scaling law predicts 1\.9\d/)
      .waitFor();
    await part(page, 'Why other layouts were not chosen').getByText('is slower').waitFor();
    expect(await figure(page, 'MFU').textContent()).toMatch(/\d\d\.\d %/);
    expect(await page.locator('.rank').count()).toBe(64);
    await page.getByText('trainyard plan llama3-70b --nodes 8 --device H100').waitFor();
  });

  it('fills in a recipe and a GPU, so that its address can be shared', async () => {
    const page = await visit('/');
    await page.getByRole('link', { name: 'Planner' }).click();
    await page.waitForURL(/\/planner\?device=H100&recipe=llama3-8b$/);
    await figure(page, 'Tokens/s').waitFor();
    expect(await page.title()).toContain('Planner');
  });

  it('keeps every answer of the form in the address', async () => {
    const page = await visit('/planner?recipe=llama3-8b&device=H100');
    await page.getByRole('combobox', { name: /^GPU/ }).selectOption('H200');
    await page.getByLabel('Nodes').fill('2');
    await page.getByLabel('Samples per step').fill('256');
    await page.getByLabel('Dollars per GPU-hour').fill('2.5');
    await page.waitForURL(/batch=256&device=H200&nodes=2&price=2.5&recipe=llama3-8b/);
    await part(page, 'Time and cost').getByText('given price').waitFor();
    await page.getByText(/on 2 nodes of 8 H200 .*256 samples/).waitFor();
    const address = page.url();
    await page.goto(address);
    await page.getByText(/on 2 nodes of 8 H200 .*256 samples/).waitFor();
    expect(await page.getByLabel('Samples per step').inputValue()).toBe('256');
  });

  it('tells where a rank lies, by keys alone', async () => {
    const page = await visit('/planner?recipe=llama3-70b&device=H100&nodes=8');
    await page.getByRole('button', { name: /^Rank 9 on node 2/ }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/rank=9/);
    await part(page, 'Rank 9').getByText('2, slot 1').waitFor();
    await part(page, 'Rank 9').getByText(/tp \d · cp \d · dp \d · pp \d/).waitFor();
  });

  it('draws a thousand ranks on one canvas', async () => {
    const page = await visit('/planner?recipe=llama3.1-405b&device=H100&nodes=128&rank=1023');
    await page.locator('canvas[data-drawn="1024"]').waitFor();
    await part(page, 'Rank 1023').getByText('128, slot 7').waitFor();
  });

  it('says what is missing, and plans for the cluster that would do', async () => {
    const page = await visit('/planner?recipe=llama3-70b&device=A100&nodes=1');
    await page.getByText(/are missing on each GPU/).waitFor();
    await page.getByRole('button', { name: /^Plan for \d+ nodes$/ }).click();
    await part(page, 'Layout').getByText('layout: {').waitFor();
    expect(page.url()).toMatch(/nodes=\d+/);
  });

  it('plans a job file, and refuses a wrong one with the place of the mistake', async () => {
    const page = await visit('/planner?device=H100');
    await page.getByRole('radio', { name: 'Job file' }).check({ force: true });
    await page.getByText('Nothing to plan yet').waitFor();
    const file = page.getByRole('textbox', { name: 'Job file' });
    await file.fill(JOB_FILE);
    await page.getByText('Submit would reject this job').waitFor();
    await page.waitForURL(/file=name/);
    await file.fill(JOB_FILE.replace('model:', 'modell:'));
    await page.getByText(/did you mean `model`/).waitFor();
  });

  it('plans a mixture of experts', async () => {
    const page = await visit('/planner?recipe=llama3-8b&device=H100&nodes=8&batch=256');
    await page.getByRole('combobox', { name: 'Recipe' }).selectOption('mixtral-8x7b');
    await part(page, 'Layout').getByText(/46\.7B parameters/).waitFor();
    await page.getByText('trainyard plan mixtral-8x7b --nodes 8 --device H100').waitFor();
    await part(page, 'Memory of the fullest GPU').getByText('Expert inputs').waitFor();
    await part(page, 'Step time').getByText('Wait for ep').waitFor();
    expect(await page.getByText(/^Plan only/).count()).toBe(0);
  });

  it('plans a recipe in FP8', async () => {
    const page = await visit('/planner?recipe=llama3-8b&device=H100&nodes=1&batch=256');
    await page.getByRole('combobox', { name: 'Recipe' }).selectOption('llama3-8b-fp8');
    await expect.poll(() => page.url()).toContain('llama3-8b-fp8');
    await part(page, 'Layout').waitFor();
    expect(await page.getByText(/^Plan only/).count()).toBe(0);
    expect(await page.getByText('Submit would reject this job').count()).toBe(0);
  });

  it('marks numbers that are none, and says what a refused one must be', async () => {
    const page = await visit('/planner?recipe=llama3-8b&device=H100&nodes=x');
    await page.getByText('must be a whole number of at least 1').waitFor();
    await page.getByText('Correct the marked fields.').waitFor();
    await page.getByLabel(/^Nodes/).fill('4096');
    await page.getByText(/at most 16384 are supported/).waitFor();
  });

  it('writes a new job from a recipe, with its check, help and plan', async () => {
    const page = await visit('/submit?recipe=llama3-8b');
    const file = page.getByRole('textbox', { name: 'Job file' });
    await expect.poll(() => file.inputValue()).toContain('name: llama3-8b\n');
    await page.getByText(/no worker is attached/).waitFor();
    const help = page.getByRole('region', { name: 'Setting at the cursor' });
    await help.getByText('A job file: one training run, or the preparation of its data.').waitFor();
    const text = await file.inputValue();
    await file.fill(text.replace('model:', 'modell:'));
    await page.getByText(/did you mean/).waitFor();
    expect(await page.getByRole('button', { name: /^Line \d+$/ }).count()).toBeGreaterThan(0);
    await file.fill(text);
    await page.getByRole('button', { name: 'Plan', exact: true }).click();
    await part(page, 'Memory of the fullest GPU').getByText('Saved activations').waitFor();
    await page.getByText(/The job file sets/).waitFor();
  });

  it('fits a phone', async () => {
    const page = await visit('/planner?recipe=llama3-70b&device=H100&nodes=8', empty, PHONE);
    await part(page, 'Ranks').waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(PHONE.width);
  });

  // The job requests more nodes than are free, so it stays queued. The test deletes the job
  // afterwards, because other tests count jobs.
  it.runIf(seeded !== '')('plans a job of the cluster on other hardware', async () => {
    const job_file = 'extends: llama3-8b\nname: to-plan\nresources: {nodes: 32}\n';
    await post('/jobs', { job_file, overrides: ['data.path=/data'], user: 'ada' });
    try {
      const page = await visit('/jobs/to-plan/config', seeded);
      await page.getByRole('link', { name: 'Plan this job on other hardware' }).click();
      await page.getByText('Uses the settings of to-plan.').waitFor();
      await page.getByRole('button', { name: /^\d+ nodes with 8 H200$/ }).click();
      await page.waitForURL(/device=H200.*job=\d+&nodes=\d+/);
      await page.getByLabel('Nodes').fill('2');
      await page.getByText(/on 2 nodes of 8 H200/).waitFor();
    } finally {
      await post('/jobs/to-plan/kill', { user: 'ada' });
      await fetch(`${seeded}/api/v1/jobs/to-plan?confirmed=true&user=ada`, {
        method: 'DELETE',
        headers: HEADERS,
      });
    }
  });
});
