// Tests Find, and reaching the first chart by keyboard. Uses the fixture server.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launch, openPage, type OpenPage } from './browser';
import { busyCluster } from './fixtures';
import { FixtureServer } from './fixture_server';

let browser: Browser;
let server: FixtureServer;
let open: OpenPage | undefined;

async function visit(path: string): Promise<Page> {
  open = await openPage(browser, server.url + path);
  await open.page.getByText('live', { exact: true }).waitFor();
  return open.page;
}

async function find(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Find' }).waitFor();
  await page.keyboard.type(text);
}

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

describe('Find', () => {
  it('closes at Esc, also with a text in it', async () => {
    const page = await visit('/');
    await find(page, 'llama');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('opens a node', async () => {
    const page = await visit('/');
    await find(page, 'gpu02');
    await page.getByRole('option', { name: /^gpu02/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/nodes\/node-2$/);
    await page.getByRole('heading', { name: 'gpu02' }).waitFor();
  });

  it('cordons a node after a question', async () => {
    const page = await visit('/queue');
    await find(page, 'cordon gpu02');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Cordon gpu02?' });
    await dialog.getByRole('button', { name: 'Cordon', exact: true }).click();
    await page.locator('.job-title').getByText('cordoned', { exact: true }).waitFor();
  });

  it('stops a job after a question, and leaves the open view as it is', async () => {
    const page = await visit('/jobs/42/timeline');
    await find(page, 'stop llama3-8b');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Stop llama3-8b-c4 #42?' });
    await dialog.waitFor();
    expect(new URL(page.url()).pathname).toBe('/jobs/42/timeline');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(server.cluster.jobs.find(({ id }) => id === 42)!.state).toBe('running');
  });

  it('opens a view of a job', async () => {
    const page = await visit('/');
    await find(page, 'checkpoints 42');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/jobs\/42\/checkpoints$/);
  });
});

describe('the first chart of a job', () => {
  it('is at most 12 tabs away', async () => {
    const page = await visit('/jobs/42');
    await page.locator('.chart canvas').first().waitFor();
    const focused = () =>
      page.evaluate(() => {
        const { activeElement: element } = document;
        return element?.className === 'chart' ? 'chart' : (element?.textContent ?? '');
      });
    let tabs = 0;
    while ((await focused()) !== 'Skip to the first chart' && tabs < 12) {
      await page.keyboard.press('Tab');
      tabs++;
    }
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('chart');
    expect(tabs).toBeLessThanOrEqual(12);
  });
});
