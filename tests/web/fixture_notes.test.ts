// Tests notes on steps with the fixture server.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { violationsOf } from './axe';
import { FixtureBrowser } from './fixture_browser';
import { NOW } from './fixtures';

const pages = new FixtureBrowser();

// The session of a test browser has no user, so notes written in it have this author.
const ME = 'user ';

function addNote(step: number, text: string, actor = 'user grace') {
  const job = pages.job(42);
  job.notes_written += 1;
  const id = job.notes_written;
  job.notes.push({ id, step, text, actor, actor_verified: true, time_ms: NOW - 60_000 });
}

// Answers the requests that change notes, as the controller does.
async function acceptNotes(page: Page): Promise<void> {
  await page.route('**/api/v1/jobs/42/notes**', async (route) => {
    const request = route.request();
    if (request.method() === 'POST') {
      const { step, text } = request.postDataJSON() as { step: number; text: string };
      addNote(step, text, ME);
    } else {
      const id = Number(request.url().split('/').at(-1));
      pages.job(42).notes = pages.job(42).notes.filter((note) => note.id !== id);
    }
    await route.fulfill({ json: { job: pages.job(42) } });
  });
}

const chartOf = (page: Page) => page.getByRole('application', { name: /^Loss by/ });
const notesOf = (page: Page) => page.getByRole('region', { name: 'Notes' });

describe('a step that was clicked', () => {
  it('leads to the command for its documents', async () => {
    pages.job(42).spec!.data = { path: '/data/c4', blend: [], blend_stages: [] };
    const page = await pages.visit('/jobs/42');
    await chartOf(page).locator('.u-over').click({ position: { x: 200, y: 60 } });
    const button = page.getByRole('button', { name: /^Documents of step [\d,]+…$/ });
    const step = /step ([\d,]+)/.exec((await button.textContent()) ?? '')![1]!;
    await button.click();
    const dialog = page.getByRole('dialog', { name: `Documents of step ${step}` });
    await dialog.getByText(`trainyard documents 42 --step ${step.replaceAll(',', '')}`).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await dialog.getByText('/data/text').waitFor();
    await dialog.getByRole('link', { name: 'corpus #43' }).click();
    await page.waitForURL('**/jobs/43/data');
  });
});

describe('a note', () => {
  it('is written on the step that was clicked in a curve', async () => {
    const page = await pages.visit('/jobs/42');
    await acceptNotes(page);
    const over = chartOf(page).locator('.u-over');
    await over.click({ position: { x: 200, y: 60 } });
    const button = page.getByRole('button', { name: /^Note at [\d,]+…$/ });
    const step = /at ([\d,]+)/.exec((await button.textContent()) ?? '')![1]!;
    await button.click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Step').inputValue()).toBe(step.replaceAll(',', ''));
    const send = dialog.getByRole('button', { name: 'Write note' });
    expect(await send.isDisabled()).toBe(true);
    await dialog.getByLabel('Note (one line)').fill('lr halved by hand');
    expect(await violationsOf(page)).toEqual([]);
    await send.click();
    const row = notesOf(page).getByRole('listitem').filter({ hasText: `step ${step}` });
    await row.getByText('lr halved by hand').waitFor();
  });

  it('begins at the newest step, or at the cursor for the key n', async () => {
    const page = await pages.visit('/jobs/42');
    await chartOf(page).locator('.u-over').waitFor();
    await page.getByRole('button', { name: 'Note…', exact: true }).click();
    const step = page.getByRole('dialog').getByLabel('Step');
    expect(await step.inputValue()).toBe('3104');
    await step.fill('many');
    await page.getByRole('dialog').getByText('must be a whole number').waitFor();
    await page.keyboard.press('Escape');
    await chartOf(page).focus();
    await page.keyboard.press('Home');
    const at = (await page.locator('.reading .at').first().textContent())!.replace(/\D/g, '');
    await page.keyboard.press('n');
    expect(await step.inputValue()).toBe(at);
  });

  it('is a mark in the curves, whose text is shown at the cursor', async () => {
    const first = await firstStepOf(await pages.visit('/jobs/42'));
    addNote(first, 'data shuffled');
    const page = await pages.visit('/jobs/42');
    await notesOf(page).getByText('data shuffled').waitFor();
    await chartOf(page).focus();
    await page.keyboard.press('Home');
    await page.locator('.reading .marker-text', { hasText: 'grace at step' }).first().waitFor();
  });

  it('is deleted by its writer alone', async () => {
    addNote(2_000, 'of another user');
    addNote(1_000, 'my own', ME);
    const page = await pages.visit('/jobs/42');
    await acceptNotes(page);
    const rows = notesOf(page).getByRole('listitem');
    await rows.nth(1).waitFor();
    expect(await rows.first().textContent()).toContain('my own');
    const remove = notesOf(page).getByRole('button', { name: /^Delete/ });
    await remove.waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await remove.click();
    await expect.poll(() => rows.count()).toBe(1);
    await notesOf(page).getByText('of another user').waitFor();
  });
});

// Returns the step of the first point of the loss.
async function firstStepOf(page: Page): Promise<number> {
  await chartOf(page).locator('.u-over').waitFor();
  await chartOf(page).focus();
  await page.keyboard.press('Home');
  const text = await page.locator('.reading .at').first().textContent();
  await page.context().close();
  return Number(text!.replace(/\D/g, ''));
}
