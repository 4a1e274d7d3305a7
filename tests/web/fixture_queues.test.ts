// Tests the table of queues, with the fixture server.
import { expect, it } from 'vitest';
import type { QueueState } from '../../web/src/api/types';
import { FixtureBrowser } from './fixture_browser';

const pages = new FixtureBrowser();

function queue(name: string, fairShare: number, heldSlots: number): QueueState {
  return {
    queue: {
      name,
      shares: 3,
      tier: 1,
      quotas: [{ device: 'gpu', nominal: 0, max_slots: 128, max_slots_per_user: 16 }],
    },
    slots: [
      {
        device: 'gpu',
        held_slots: heldSlots,
        waiting_jobs: 2,
        usage_hours: 10,
        usage_share: 0.5,
        fair_share: fairShare,
        users: [],
      },
    ],
  };
}

it('shows the queues with their parts and limits', async () => {
  pages.server.settings.queues = [queue('default', 0.25, 12), queue('night', 0.75, 40)];
  const page = await pages.visit('/queue');
  const table = page.getByRole('region', { name: 'Queues' }).last();
  await table.getByText('night').waitFor();
  const text = await table.innerText();
  expect(text).toContain('75 %');
  expect(text).toContain('at most 128, 16 per user');
});

it('moves a job to another queue with another priority', async () => {
  const page = await pages.visit('/jobs/44');
  await page.getByRole('button', { name: 'Move…', exact: true }).click();
  const dialog = page.getByRole('dialog');
  const move = dialog.getByRole('button', { name: 'Move job' });
  expect(await move.isDisabled()).toBe(true);
  await dialog.getByLabel('Queue').fill('night');
  await dialog.getByLabel('Priority').fill('NaN');
  expect(await move.isDisabled()).toBe(true);
  await dialog.getByLabel('Priority').fill('5');
  await dialog.getByText('trainyard queue move 44 --queue night --priority 5').waitFor();
  const [request] = await Promise.all([page.waitForRequest(/\/jobs\/44\/move$/), move.click()]);
  expect(request.postDataJSON()).toEqual({ queue: 'night', priority: 5 });
});
