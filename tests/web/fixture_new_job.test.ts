// Tests the page of a new job: the editor for a recipe's job file, help, plan and submission.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { violationsOf } from './axe';
import { PHONE, WIDE, type Theme } from './browser';
import { FixtureBrowser } from './fixture_browser';

const pages = new FixtureBrowser();

const editorOf = (page: Page) => page.getByRole('textbox', { name: 'Job file' });
const helpOf = (page: Page) => page.getByRole('region', { name: 'Setting at the cursor' });
const submitOf = (page: Page) => page.getByRole('button', { name: 'Submit job' });

async function open(recipe = 'llama3-8b', theme: Theme = 'light', viewport = WIDE) {
  const page = await pages.visit(`/submit?recipe=${recipe}`, viewport, theme);
  await editorOf(page).waitFor();
  return page;
}

// Moves the cursor to the end of a text in the editor.
async function moveTo(page: Page, text: string): Promise<void> {
  const editor = editorOf(page);
  await editor.evaluate((area: HTMLTextAreaElement, at) => {
    const offset = area.value.indexOf(at) + at.length;
    area.focus();
    area.setSelectionRange(offset, offset);
  }, text);
  // The page reads the cursor's position only after a key press.
  await page.keyboard.press('Shift');
}

describe('the page of a new job', () => {
  it('is reached from the jobs and from Find, and begins with a recipe', async () => {
    const page = await pages.visit('/jobs');
    await page.getByRole('link', { name: 'New job…' }).click();
    await page.waitForURL(/\/submit$/);
    await editorOf(page).waitFor();
    await page.getByRole('combobox', { name: /^Recipe/ }).selectOption('llama3-8b');
    await page.waitForURL(/recipe=llama3-8b/);
    await expect.poll(() => editorOf(page).inputValue()).toContain('# LLaMA 3 8B');
    expect(await page.title()).toContain('New job');
    await page.goto(`${pages.server.url}/`);
    await page.getByRole('button', { name: /^Find/ }).click();
    await page.getByRole('combobox').fill('new job');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/submit$/);
  });

  it('names a recipe that the controller does not have', async () => {
    const page = await pages.visit('/submit?recipe=none');
    await page.getByText('There is no such recipe').waitFor();
    await page.getByRole('combobox', { name: /^Recipe/ }).selectOption('llama3-8b');
    await editorOf(page).waitFor();
  });

  it('shows the documentation of the setting under the cursor', async () => {
    const page = await open();
    await moveTo(page, 'global_batch: 1');
    await helpOf(page).getByRole('heading', { name: 'train.global_batch' }).waitFor();
    await helpOf(page).getByText('Samples per step, over all ranks.').waitFor();
    await helpOf(page).getByText('16777216').waitFor();
    await moveTo(page, '\ntrain');
    await helpOf(page).getByText('Tokens per sample.').waitFor();
    await moveTo(page, 'hidden_size');
    await helpOf(page).getByText('is not a setting of').waitFor();
  });

  it('shows errors at their lines, and leads to them', async () => {
    const page = await open();
    await page.getByText('The job file is valid.').waitFor();
    await page.getByText('Starts at once: 2 ranks on gpu01, gpu02.').waitFor();
    await page.getByText('Data parallel crosses spine: 12.5 GB/s per GPU').waitFor();
    const text = await editorOf(page).inputValue();
    await editorOf(page).fill(`${text}comand: [x]\n`);
    const line = text.split('\n').length;
    await page.getByText('unknown key', { exact: false }).waitFor();
    await page.getByText('must be at least 1, got 0').waitFor();
    expect(await submitOf(page).isDisabled()).toBe(true);
    expect((await page.locator('.editor-numbers b').innerText()).trim()).toBe(`● ${line}`);
    await page.getByRole('button', { name: `Line ${line}` }).click();
    const at = await editorOf(page).evaluate((area: HTMLTextAreaElement) => area.selectionStart);
    expect(at).toBe(text.length);
  });

  it('plans the edited text, and says when the plan is old', async () => {
    const page = await open();
    const sent = page.waitForRequest(
      (request) => request.method() === 'POST' && request.url().endsWith('/planner'),
    );
    await editorOf(page).press('End');
    await editorOf(page).press('Control+Enter');
    const { job_file: text, device } = (await sent).postDataJSON() as Record<string, string>;
    expect(text).toContain('name: llama3-8b');
    expect(device).toBe('H200');
    const plan = page.getByRole('region', { name: 'Plan', exact: true });
    await plan.getByText('74.5k').waitFor();
    await plan.getByText('layout: {cp: 2, zero: 2, micro_batch: 1}').waitFor();
    await plan.getByText('15.2 s per step, 61.0 GB per GPU').waitFor();
    await plan.getByRole('region', { name: 'Memory of the fullest GPU' }).waitFor();
    await page.getByRole('textbox', { name: /^Name/ }).fill('mine');
    await plan.getByText('The job file has changed since this plan.').waitFor();
  });

  it('does not plan a job on CPUs, and repeats why submit would reject it', async () => {
    const page = await open('llama-tiny-cpu');
    await page.getByText('This job runs on CPUs.').waitFor();
    await page.getByText('no data is set').waitFor();
    expect(await submitOf(page).isDisabled()).toBe(true);
  });

  it('submits the text with its name, and opens the new job', async () => {
    const page = await open();
    const name = page.getByRole('textbox', { name: /^Name/ });
    await name.fill('Bad Name');
    await page.getByText('Use lowercase letters and digits.').waitFor();
    await name.fill('my-run');
    await expect.poll(() => editorOf(page).inputValue()).toContain('name: my-run\n');
    const diff = page.getByRole('region', { name: 'Difference from the recipe' });
    await diff.getByText('2 lines').waitFor();
    await diff.getByText('name: my-run').waitFor();
    await page.getByText('trainyard submit my-run.yaml').waitFor();
    await page.getByRole('checkbox', { name: 'Hold until it is resumed' }).click();
    const sent = page.waitForRequest(
      (request) => request.method() === 'POST' && request.url().endsWith('/jobs'),
    );
    await submitOf(page).click();
    const body = (await sent).postDataJSON() as Record<string, unknown>;
    expect(body['job_file']).toContain('name: my-run\n');
    expect(body['hold']).toBe(true);
    expect(body['request_id']).toMatch(/^web-0-[0-9a-f]{16}$/);
    await page.waitForURL(/\/jobs\/46$/);
  });

  it('keeps the edited text while another page is open', async () => {
    const page = await open();
    await page.getByRole('textbox', { name: /^Name/ }).fill('kept');
    await page.getByRole('link', { name: 'Queue' }).first().click();
    await page.getByRole('heading', { name: 'Queue', level: 1 }).waitFor();
    await page.goBack();
    await expect.poll(() => editorOf(page).inputValue()).toContain('name: kept\n');
  });

  it('keeps the text of another recipe after a submit', async () => {
    const page = await open('llama-tiny-cpu');
    await page.getByRole('textbox', { name: /^Name/ }).fill('kept');
    await page.getByRole('combobox', { name: /^Recipe/ }).selectOption('llama3-8b');
    await expect.poll(() => editorOf(page).inputValue()).toContain('# LLaMA 3 8B');
    await page.getByText('The job file is valid.').waitFor();
    await submitOf(page).click();
    await page.waitForURL(/\/jobs\/46$/);
    await page.goBack();
    await page.getByRole('combobox', { name: /^Recipe/ }).selectOption('llama-tiny-cpu');
    await expect.poll(() => editorOf(page).inputValue()).toContain('name: kept\n');
  });

  it('loads its code only when it is opened', async () => {
    const page = await pages.visit('/');
    const scripts: string[] = [];
    page.on('request', (request) => scripts.push(new URL(request.url()).pathname));
    await page.getByText('live', { exact: true }).waitFor();
    await expect.poll(() => scripts.some((path) => path.includes('/job-'))).toBe(true);
    expect(scripts.filter((path) => path.includes('/submit-'))).toEqual([]);
  });
});

describe.each(['light', 'dark'] as const)('has no violation of accessibility, %s:', (theme) => {
  it.each([WIDE, PHONE])('%o', async (viewport) => {
    const page = await open('llama3-8b', theme, viewport);
    await editorOf(page).fill('name: x\ncomand: [x]\n');
    await page.getByRole('button', { name: 'Line 2' }).waitFor();
    await page.getByRole('button', { name: 'Plan', exact: true }).click();
    await page.getByRole('region', { name: 'Memory of the fullest GPU' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });
});
