// Tests that scheduling is shown and changed on the pages, with the fixture server.
import { expect, it } from 'vitest';
import { FixtureBrowser } from './fixture_browser';
import { NOW } from './fixtures';

const pages = new FixtureBrowser();

it('extends a time limit', async () => {
  const job = pages.job(42);
  job.spec!.time_limit = '43200s';
  job.time_limit_use = { used_ms: 31_800_000, remaining_ms: 11_400_000, extended_ms: 0 } as never;
  const page = await pages.visit('/jobs/42');
  await page.getByText('3h 10m left until the time limit, then the job ends.').first().waitFor();
  await page.getByRole('button', { name: 'Extend…', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Time to add').fill('nan');
  expect(await dialog.getByRole('button', { name: 'Extend limit' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Time to add').fill('2h');
  await dialog.getByText('trainyard extend 42 +2h').waitFor();
  const [request] = await Promise.all([
    page.waitForRequest(/\/jobs\/42\/extend$/),
    dialog.getByRole('button', { name: 'Extend limit' }).click(),
  ]);
  expect(request.postDataJSON()).toEqual({ by: '2h', extended_ms: 0 });
});

it('drains a node with a deadline and a reason', async () => {
  const page = await pages.visit('/nodes/gpu02');
  await page.getByRole('button', { name: 'Drain…', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Jobs may stay for').selectOption('2 hours');
  await dialog.getByLabel('Reason').fill('new fan');
  await dialog.getByText("trainyard node drain gpu02 --deadline 2h --reason 'new fan'").waitFor();
  const [request] = await Promise.all([
    page.waitForRequest(/\/nodes\/[^/]+\/drain$/),
    dialog.getByRole('button', { name: 'Drain', exact: true }).click(),
  ]);
  expect(request.postDataJSON()).toEqual({ drain_after_ms: 7_200_000, reason: 'new fan' });
});

it('shows why a node takes no ranks, on the list and on its page', async () => {
  const node = pages.server.cluster.nodes.find(({ name }) => name === 'gpu02')!;
  node.cordoned = true;
  node.word = 'draining';
  node.cordon_reason = 'new fan (user ada)';
  node.drain = { deadline_ms: NOW + 1_500_000, drained_ms: 0 } as never;
  let page = await pages.visit('/nodes');
  await page.getByText(/jobs leave within .*: new fan \(user ada\)/).first().waitFor();
  page = await pages.visit(`/nodes/${node.id}`);
  await page.getByText(/jobs leave within .*: new fan \(user ada\)/).first().waitFor();
});

it('shows the groups and labels of a node', async () => {
  const node = pages.server.cluster.nodes.find(({ name }) => name === 'gpu02')!;
  node.groups = ['spine1', 'leaf3'];
  node.labels = { pool: 'a' };
  const page = await pages.visit(`/nodes/${node.id}`);
  await page.getByText('in spine1/leaf3').waitFor();
  await page.getByText('labels pool=a').waitFor();
});

it('shows the size, the queue and the priority of a job', async () => {
  const job = pages.job(42);
  job.spec!.min_nodes = 1;
  job.queue = 'night';
  job.priority = 5;
  const page = await pages.visit('/jobs/42');
  await page.getByText('queue night, priority 5').waitFor();
  await page.getByText('1..2 × 8 gpu').first().waitFor();
});
