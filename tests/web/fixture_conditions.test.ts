// Tests the pages of a job that waits for a condition on another job, with the fixture server.
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { launch, openPage, type OpenPage } from './browser';
import { busyCluster } from './fixtures';
import { FixtureServer } from './fixture_server';

const CONDITION = 'a checkpoint at step 5000 or later of job 42 (llama3-8b-c4)';

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

it.each(['/jobs/45', '/queue'])('shows the condition that is missing: %s', async (path) => {
  const reason = server.cluster.pending.get(45)!;
  server.cluster.pending.set(45, {
    ...reason,
    code: 'dependency',
    queue_position: 0,
    blocking_job_id: 0,
    message: `waits for ${CONDITION}, which is running (\`after\`)`,
    advice: '`trainyard why 42` explains job 42 (llama3-8b-c4)',
  });
  const laptop = { width: 1280, height: 720 };
  open = await openPage(browser, server.url + path, 'light', laptop);
  const shown = open.page.getByText(`Waits for ${CONDITION}, which is running (after)`);
  await shown.first().waitFor();
  await open.page.getByText('trainyard why 42', { exact: true }).first().waitFor();
});
