// Tests the table of queues, with the fixture server.
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { QueueState } from '../../web/src/api/types';
import { launch, openPage, type OpenPage } from './browser';
import { busyCluster } from './fixtures';
import { FixtureServer } from './fixture_server';

const LAPTOP = { width: 1280, height: 720 };

let browser: Browser;
let server: FixtureServer;
let open: OpenPage | undefined;

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());
beforeEach(async () => {
  server = new FixtureServer(busyCluster());
  await server.start();
});
afterEach(async () => {
  await open?.context.close();
  expect(open?.complaints).toEqual([]);
  open = undefined;
  await server.stop();
});

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
  server.queues = [queue('default', 0.25, 12), queue('night', 0.75, 40)];
  open = await openPage(browser, `${server.url}/queue`, 'light', LAPTOP);
  const table = open.page.getByRole('region', { name: 'Queues' }).last();
  await table.getByText('night').waitFor();
  const text = await table.innerText();
  expect(text).toContain('75 %');
  expect(text).toContain('at most 128, 16 per user');
});
