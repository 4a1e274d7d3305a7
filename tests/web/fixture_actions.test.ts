// Tests that actions on a job state what is lost or kept, and that a loss is shown as a failure.
import { describe, expect, it } from 'vitest';
import { FixtureBrowser } from './fixture_browser';
import { NOW } from './fixtures';

const pages = new FixtureBrowser();

// Job 42 trains at step 3,104; its newest checkpoint has step 3,000.
function setHealth(word: 'ok' | 'unsaved') {
  const finding = {
    word,
    since_ms: NOW - 600_000,
    ranks: [],
    node: '',
    message: 'no checkpoint since step 3000, because the checkpoint of step 3100 failed',
    advice: 'free disk space in /ckpt',
  };
  pages.job(42).health = {
    word,
    findings: word === 'ok' ? [] : [finding],
    steps_at_risk: 104,
    saved_step: 3_000,
    at_risk_since_ms: NOW - 900_000,
  };
}

describe('the dialog of an action', () => {
  it.each(['Stop', 'Pause'])('names the steps that it loses: %s', async (verb) => {
    setHealth('unsaved');
    const page = await pages.visit('/jobs/42');
    await page.getByRole('button', { name: `${verb}…`, exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('.tone-bad', { hasText: 'have failed since step 3,000' }).waitFor();
    await dialog.getByRole('button', { name: `${verb} and lose 104 steps` }).waitFor();
  });

  it('names the steps that the checkpoint of a stop keeps', async () => {
    setHealth('ok');
    const page = await pages.visit('/jobs/42');
    await page.getByRole('button', { name: 'Stop…', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('saves a checkpoint with the 104 steps since step 3,000').waitFor();
    await dialog.getByRole('button', { name: 'Save and stop' }).waitFor();
    expect(await dialog.locator('.tone-bad').count()).toBe(0);
  });

  it('names the steps that a kill loses, and how long they took', async () => {
    setHealth('ok');
    const page = await pages.visit('/jobs/42');
    await page.getByRole('button', { name: 'Kill…', exact: true }).click();
    const loss = /Killing now loses 104 steps \(1[45]m \d\ds of work\) since step 3,000/;
    await page.getByRole('dialog').getByText(loss).waitFor();
  });

  it('names where a resumed job continues', async () => {
    pages.job(42).state = 'paused';
    const page = await pages.visit('/jobs/42');
    await page.getByRole('button', { name: 'Resume…', exact: true }).click();
    const text = 'continues from the checkpoint at step 3,000. The 104 steps after it are redone.';
    await page.getByRole('dialog').getByText(text).waitFor();
  });
});

describe('an open dialog', () => {
  it('closes when the browser goes back to another job', async () => {
    const page = await pages.visit('/jobs/42');
    await page.getByRole('button', { name: 'Stop…', exact: true }).click();
    await page.getByRole('dialog').waitFor();
    // Simulates the browser's own button, which is outside of the page.
    await page.evaluate(() => {
      history.replaceState(history.state, '', '/jobs/43');
      dispatchEvent(new PopStateEvent('popstate'));
    });
    await page.getByRole('heading', { name: pages.job(43).name }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});

describe('a checkpoint', () => {
  it('starts a new job from its step', async () => {
    pages.job(42).checkpoints[1]!.damaged = true;
    const page = await pages.visit('/jobs/42/checkpoints');
    const table = page.getByRole('table');
    await table.getByRole('row').nth(3).waitFor();
    expect(await table.getByRole('button', { name: /New job from/ }).count()).toBe(2);
    await table.getByRole('button', { name: 'checkpoint at step 2,000' }).click();
    const start = 'The new job starts at step 2,000, from /ckpt/llama3-8b-c4/step-2000.';
    await page.getByRole('dialog').getByText(start).waitFor();
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    const { overrides } = (await sent).postDataJSON() as { overrides: string[] };
    expect(overrides).toContain('checkpoint.resume_from=/ckpt/llama3-8b-c4/step-2000');
  });
});

describe('a stop that lost steps', () => {
  it('is shown as a failure, with the word stopped', async () => {
    const summary = 'stopped by a user; 104 steps after step 3000 are lost';
    const stopped = pages.job(40);
    stopped.verdict = { ...pages.job(39).verdict!, cause: 'stopped', summary, lost_steps: 104 };
    stopped.verdict.log_tail = '';
    const page = await pages.visit('/jobs/40');
    await page.locator('.job-header .badge.tone-bad', { hasText: 'stopped' }).waitFor();
    await page.locator('.job-header .reason.tone-bad', { hasText: summary }).waitFor();
    await page.goto(`${pages.server.url}/jobs`);
    const row = page.locator('tbody tr', { hasText: stopped.name });
    await row.locator('.badge.tone-bad', { hasText: 'stopped' }).waitFor();
    await row.getByText(summary).waitFor();
  });

  it('is not shown for a stop that saved', async () => {
    const page = await pages.visit('/jobs/40');
    await page.locator('.job-header .badge.tone-idle', { hasText: 'stopped' }).waitFor();
  });
});
