// Tests the forms that change queues, reservations and the topology, with the fixture server.
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { GetTopologyResponse } from '../../web/src/api/types';
import { violationsOf } from './axe';
import { FixtureBrowser } from './fixture_browser';
import { NOW } from './fixtures';

const pages = new FixtureBrowser();

// Takes a picture for review if the variable SCREENSHOTS names a folder.
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (folder) await page.screenshot({ path: `${folder}/form-${name}.png` });
}

async function open(path: string, button: string): Promise<[Page, Locator]> {
  const page = await pages.visit(path);
  await page.getByRole('button', { name: button, exact: true }).click();
  return [page, page.getByRole('dialog')];
}

// Clicks the button and returns the method, the path and the body of the request.
async function sent(page: Page, dialog: Locator, button: string) {
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.method() !== 'GET'),
    dialog.getByRole('button', { name: button, exact: true }).click(),
  ]);
  const path = new URL(request.url()).pathname.replace('/api/v1', '');
  return { line: `${request.method()} ${path}`, body: request.postDataJSON() as unknown };
}

const night = () => ({
  queue: {
    name: 'night',
    shares: 3,
    tier: 1,
    quotas: [{ device: 'gpu' as const, nominal: 64, max_slots: 128, max_slots_per_user: 16 }],
  },
  slots: [],
});

describe('the form of a queue', () => {
  it('creates a queue', async () => {
    const [page, dialog] = await open('/queue', 'New queue…');
    const create = dialog.getByRole('button', { name: 'Create queue' });
    expect(await create.isDisabled()).toBe(true);
    await dialog.getByLabel('Name').fill('lab');
    await dialog.getByLabel('Tier').fill('first');
    await dialog.getByText('Enter a whole number.').waitFor();
    expect(await create.isDisabled()).toBe(true);
    await dialog.getByLabel('Tier').fill('2');
    await dialog.getByRole('group', { name: 'GPU slots' }).getByLabel('Maximum').fill('128');
    await dialog.getByText('trainyard queue set lab --tier 2 --max gpu=128').waitFor();
    await picture(page, 'queue');
    expect(await violationsOf(page)).toEqual([]);
    const { line, body } = await sent(page, dialog, 'Create queue');
    expect(line).toBe('POST /queues/lab');
    const quotas = [{ device: 'gpu', nominal: 0, max_slots: 128, max_slots_per_user: 0 }];
    expect(body).toEqual({ queue: { shares: 1, tier: 2, quotas } });
    await dialog.getByText('The queue lab was created.').waitFor();
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    const row = page.getByRole('row', { name: /^lab/ });
    await row.getByText('gpu: at most 128').waitFor();
  });

  it('shows the message of the controller at the field', async () => {
    const detail =
      'the queue night holds 40 gpu slots, so `max_slots` cannot be 8; stop or pause some of its ' +
      'jobs first (trainyard ps)';
    pages.server.settings.queues = [night()];
    pages.server.settings.refusal = { status: 409, detail };
    const [page, dialog] = await open('/queue', 'Change night');
    const maximum = dialog.getByRole('group', { name: 'GPU slots' }).getByLabel('Maximum');
    expect(await maximum.inputValue()).toBe('128');
    await maximum.fill('8');
    await maximum.press('Enter');
    await dialog.getByText(detail).waitFor();
    expect(await maximum.getAttribute('aria-invalid')).toBe('true');
    expect(await dialog.getByText(detail).count()).toBe(1);
    await picture(page, 'queue-refused');
    expect((await sent(page, dialog, 'Save settings')).line).toBe('POST /queues/night');
    await dialog.getByText('The queue night has the new settings.').waitFor();
  });

  it('replaces no queue that exists', async () => {
    pages.server.settings.queues = [night()];
    const [, dialog] = await open('/queue', 'New queue…');
    await dialog.getByLabel('Name').fill('night');
    await dialog.getByRole('button', { name: 'Create queue' }).click();
    await dialog.getByText('The queue name night is taken.').waitFor();
    expect(await dialog.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    expect(pages.server.settings.queues).toEqual([night()]);
  });

  it('keeps what somebody else changed while it was open', async () => {
    pages.server.settings.queues = [night()];
    const [page, dialog] = await open('/queue', 'Change night');
    const other = night();
    other.queue.quotas[0]!.max_slots = 8;
    pages.server.settings.queues = [other];
    await dialog.getByLabel('Shares').fill('5');
    const { body } = await sent(page, dialog, 'Save settings');
    const { tier, quotas } = other.queue;
    expect(body).toEqual({ queue: { shares: 5, tier, quotas } });
  });

  it('stays open when a selection is dragged out of a field', async () => {
    const [page, dialog] = await open('/queue', 'New queue…');
    const name = dialog.getByLabel('Name');
    await name.fill('lab');
    const box = (await name.boundingBox())!;
    await page.mouse.move(box.x + 20, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(2, 2);
    await page.mouse.up();
    expect(await name.inputValue()).toBe('lab');
    await page.mouse.click(2, 2);
    await dialog.waitFor({ state: 'detached' });
  });

  it('asks before it deletes a queue, and shows why it is kept', async () => {
    const detail = 'job 44 (eval) is in the queue night; move its jobs first, or stop them';
    pages.server.settings.queues = [night()];
    pages.server.settings.refusal = { status: 409, detail };
    const [page, dialog] = await open('/queue', 'Delete night');
    await dialog.getByText('trainyard queue delete night').waitFor();
    expect((await sent(page, dialog, 'Delete queue')).line).toBe('DELETE /queues/night');
    await dialog.getByRole('alert').getByText(detail).waitFor();
    await sent(page, dialog, 'Delete queue');
    await dialog.getByText('The queue night was deleted.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('row', { name: /^night/ }).waitFor({ state: 'detached' });
  });
});

describe('the form of a reservation', () => {
  it('reserves nodes for a time', async () => {
    pages.server.settings.warnings = ['job 42 (llama3-8b-c4) runs on gpu02 and may run longer'];
    const [page, dialog] = await open('/nodes', 'Reserve nodes…');
    await dialog.getByLabel('Name').fill('fans');
    await dialog.getByLabel(/^Nodes/).fill('gpu[01-02]');
    await dialog.getByLabel(/^Start/).fill('2026-12-01T08:00');
    await dialog.getByLabel('Length').fill('two hours');
    await dialog.getByText('Enter a duration such as 30m').waitFor();
    await dialog.getByLabel('Length').fill('2h');
    await dialog.getByLabel('the jobs of a queue').check();
    await dialog.getByLabel('Name of the queue').fill('night');
    await dialog.getByLabel('Reason').fill('new fans');
    await dialog.getByLabel('Running jobs of others').check();
    await picture(page, 'reservation');
    const box = (await dialog.boundingBox())!;
    expect(box.y + box.height).toBeLessThanOrEqual(page.viewportSize()!.height);
    expect(await violationsOf(page)).toEqual([]);
    const { line, body } = await sent(page, dialog, 'Reserve nodes');
    expect(line).toBe('POST /reservations/fans');
    const start = await page.evaluate(() => new Date(2026, 11, 1, 8).getTime());
    expect(body).toEqual({
      reservation: {
        nodes: ['gpu[01-02]'],
        start_ms: start,
        end_ms: start + 7_200_000,
        queue: 'night',
        user: '',
        reason: 'new fans',
        drain: true,
      },
    });
    await dialog.getByText('The reservation fans was created.').waitFor();
    await dialog.getByText('may run longer').waitFor();
    await picture(page, 'reservation-done');
    await page.keyboard.press('Escape');
    const row = page.getByRole('row', { name: /^fans/ });
    await row.getByText('new fans').waitFor();
    await row.getByText('queue night').waitFor();
  });

  it('shows the message of the controller at the field', async () => {
    const detail = 'gpu02 is reserved by maint in this time; choose other nodes or another time';
    pages.server.settings.refusal = { status: 409, detail };
    const [, dialog] = await open('/nodes', 'Reserve nodes…');
    await dialog.getByLabel('Name').fill('fans');
    await dialog.getByLabel(/^Nodes/).fill('gpu02');
    await dialog.getByLabel(/^Nodes/).press('Enter');
    await dialog.getByText(detail).waitFor();
    expect(await dialog.getByLabel(/^Nodes/).getAttribute('aria-invalid')).toBe('true');
    expect(await dialog.getByLabel('Name').getAttribute('aria-invalid')).toBe('false');
  });

  it('asks before it deletes a reservation', async () => {
    const times = { start_ms: NOW, end_ms: NOW + 3_600_000 };
    const rest = { queue: '', user: 'ada', reason: '', drain: false };
    pages.server.settings.reservations = [{ name: 'fans', nodes: ['gpu02'], ...times, ...rest }];
    const [page, dialog] = await open('/nodes', 'Delete fans');
    expect((await sent(page, dialog, 'Delete reservation')).line).toBe(
      'DELETE /reservations/fans',
    );
    await dialog.getByText('The reservation fans was deleted.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('No nodes are reserved.').waitFor();
  });
});

const COUNTS = { nodes: 2, open_nodes: 2, idle_nodes: 1 };

function twoLevels(): GetTopologyResponse {
  return {
    levels: ['spine', 'leaf'],
    groups: [
      { name: 'spine1', level: 'spine', parent: '', ...COUNTS },
      { name: 'leaf1', level: 'leaf', parent: 'spine1', ...COUNTS },
    ],
    level_figures: [{ name: 'leaf', gpu_bandwidth: 50e9, latency_seconds: 0 }],
    absent_nodes: ['gpu07'],
    other_nodes: [],
    revision: 8,
    as_of_ms: NOW,
  };
}

describe('the form of the topology', () => {
  const file = 'groups:\n  - {name: leaf1, level: leaf, nodes: ["gpu[01-02]"]}\n';

  it('sends an uploaded file and shows the topology', async () => {
    const { settings } = pages.server;
    settings.nextTopology = twoLevels();
    settings.warnings = ['job 42 runs on gpu02, which `placement` no longer allows'];
    const [page, dialog] = await open('/nodes', 'Set topology…');
    const button = dialog.getByRole('button', { name: 'Set topology' });
    expect(await button.isDisabled()).toBe(true);
    const upload = { name: 'topology.yaml', mimeType: 'text/yaml', buffer: Buffer.from(file) };
    await dialog.getByLabel('Upload a file').setInputFiles(upload);
    await expect.poll(() => dialog.getByLabel('Topology file').inputValue()).toBe(file);
    await picture(page, 'topology');
    expect(await violationsOf(page)).toEqual([]);
    const { line, body } = await sent(page, dialog, 'Set topology');
    expect(line).toBe('POST /topology');
    expect(body).toEqual({ topology_file: file });
    await dialog.getByText('The topology has 2 groups of the levels spine, leaf.').waitFor();
    await dialog.getByText('which `placement` no longer allows').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('row', { name: /^leaf1 leaf spine1/ }).waitFor();
    await page.getByText('Level leaf: 50.0 GB/s per GPU.').waitFor();
    await page.getByText('have not joined: gpu07.').waitFor();
    await picture(page, 'topology-table');
    expect(await violationsOf(page)).toEqual([]);
  });

  it('shows the error with its line', async () => {
    const detail = 'line 2: a group has no key `leel`';
    pages.server.settings.refusal = { status: 400, detail };
    const [page, dialog] = await open('/nodes', 'Set topology…');
    const area = dialog.getByLabel('Topology file');
    await area.fill('groups:\n  - {name: leaf1, leel: leaf}');
    await dialog.getByRole('button', { name: 'Set topology' }).click();
    await dialog.getByText(detail).waitFor();
    expect(await area.getAttribute('aria-invalid')).toBe('true');
    expect(await area.inputValue()).toContain('leel');
    await picture(page, 'topology-refused');
  });
});

it('offers no form that the controller does not allow', async () => {
  pages.server.capabilities = ['stop', 'submit'];
  pages.server.settings.queues = [night()];
  const page = await pages.visit('/queue');
  await page.getByRole('row', { name: /^night/ }).waitFor();
  expect(await page.getByRole('button', { name: /queue|Change|Delete/ }).count()).toBe(0);
  await page.goto(`${pages.server.url}/nodes`);
  await page.getByRole('row', { name: /gpu02/ }).waitFor();
  expect(await page.getByRole('button', { name: /Reserve|Set topology/ }).count()).toBe(0);
});
