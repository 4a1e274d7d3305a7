// Tests the page of a job's experts with the fixture server.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { violationsOf } from './axe';
import { launch, openPage, type OpenPage, type Theme } from './browser';
import { busyCluster } from './fixtures';
import { FixtureServer } from './fixture_server';

const folder = process.env['SCREENSHOTS'];
const SCREEN = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

let browser: Browser;
let server: FixtureServer;
let open: OpenPage | undefined;

async function visit(path: string, theme: Theme = 'light', viewport = SCREEN): Promise<Page> {
  open = await openPage(browser, server.url + path, theme, viewport);
  return open.page;
}

const map = (page: Page) => page.getByRole('application', { name: /^Load of/ });

function mix(num_experts: number, num_layers: number): void {
  const job = server.cluster.jobs.find(({ id }) => id === 42)!;
  job.spec!.model = {
    ...job.spec!.model!,
    num_experts,
    num_layers,
    moe_router_topk: 2,
    moe_dense_layers: 1,
  };
}

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());
beforeEach(async () => {
  server = new FixtureServer(busyCluster());
  mix(64, 16);
  await server.start();
});
afterEach(async () => {
  await open?.context.close();
  expect(open?.complaints).toEqual([]);
  open = undefined;
  await server.stop();
});

describe('the experts of a job', () => {
  it('are a tab only if the model has experts', async () => {
    const page = await visit('/jobs/42');
    await page.getByRole('link', { name: 'Experts', exact: true }).click();
    await map(page).waitFor();
    await open?.context.close();
    mix(0, 16);
    const dense = await visit('/jobs/42');
    await dense.getByRole('link', { name: 'Events', exact: true }).first().waitFor();
    expect(await dense.getByRole('link', { name: 'Experts', exact: true }).count()).toBe(0);
  });

  it('name the worst layer, experts without rows, and advice', async () => {
    const page = await visit('/jobs/42/experts');
    await page.getByText(/^Layer 4 shares its load least evenly: expert \d+ has/).waitFor();
    await page.getByText('2 experts without rows, in layer 4.').waitFor();
    await page.getByText('Experts of layer 4 get no tokens:').waitFor();
    await page.getByRole('region', { name: 'Balance', exact: true }).locator('canvas').waitFor();
  });

  it('are chosen with the keyboard and the mouse', async () => {
    const page = await visit('/jobs/42/experts');
    await map(page).focus();
    await page.getByText(/^Layer 4, expert [1-9]\d*: /).waitFor();
    await page.keyboard.press('Home');
    await page.getByText(/^Layer 4, expert 0: /).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await page.getByText(/^Layer 5, expert 1: .* times the mean load$/).waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('End');
    await page.getByText('Layer 4, expert 63: no rows', { exact: true }).waitFor();
    await map(page).click({ position: { x: 40, y: 3 } });
    await page.getByText(/^Layer 1, expert 0: /).waitFor();
  });

  it('have a history', async () => {
    const page = await visit('/jobs/42/experts');
    await page.getByRole('heading', { name: 'Load of experts at step 4,000' }).waitFor();
    const slider = page.getByRole('slider', { name: 'Step' });
    await slider.focus();
    await page.keyboard.press('Home');
    await page.getByRole('heading', { name: 'Load of experts at step 100' }).waitFor();
    expect(page.url()).toContain('step=100');
    await page.getByRole('button', { name: 'Newest' }).click();
    await page.getByRole('heading', { name: 'Load of experts at step 4,000' }).waitFor();
    expect(page.url()).not.toContain('step=');
  });

  it('move back by two steps for two keys, although no response has arrived', async () => {
    const page = await visit('/jobs/42/experts');
    const slider = page.getByRole('slider', { name: 'Step' });
    await slider.focus();
    let release = () => {};
    // A request that arrives after the release is not held.
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route(/\/experts\?step=/, async (route) => {
      await released;
      await route.continue().catch(() => undefined);
    });
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toBe('step 3,800');
    expect(page.url()).toContain('step=3800');
    expect(await slider.inputValue()).toBe('37');
    await page.getByRole('heading', { name: 'Load of experts at step 4,000' }).waitFor();
    release();
    await page.getByRole('heading', { name: 'Load of experts at step 3,800' }).waitFor();
  });

  it('can be reached again from a step before the first record', async () => {
    const page = await visit('/jobs/42/experts?step=5');
    await page.getByText('There is no record of this job at or before step 5.').waitFor();
    await page.getByRole('slider', { name: 'Step' }).waitFor();
    await page.getByRole('button', { name: 'Show step 100' }).click();
    await page.getByRole('heading', { name: 'Load of experts at step 100' }).waitFor();
  });

  it.each(['-1', '0', '1.5', 'x'])('are the newest ones at step=%s', async (step) => {
    const page = await visit(`/jobs/42/experts?step=${step}`);
    await page.getByRole('heading', { name: 'Load of experts at step 4,000' }).waitFor();
  });

  it('belong to one attempt', async () => {
    const page = await visit('/jobs/42/experts?step=3000');
    const panel = page.getByRole('region', { name: 'Load of experts' });
    await panel.getByText('attempt 2', { exact: true }).waitFor();
    await page.getByText('Experts of layer 4 get no tokens:').waitFor();
    await page.getByRole('radio', { name: '1', exact: true }).check({ force: true });
    await page.getByRole('heading', { name: 'Load of experts at step 2,000' }).waitFor();
    await panel.getByText('attempt 1', { exact: true }).waitFor();
    expect(page.url()).toContain('attempt=1');
    expect(page.url()).not.toContain('step=');
    const slider = page.getByRole('slider', { name: 'Step' });
    expect(await slider.getAttribute('max')).toBe('19');
    expect(await page.getByText('Experts of layer 4 get no tokens:').count()).toBe(0);
    await slider.focus();
    await page.keyboard.press('Home');
    await page.getByRole('heading', { name: 'Load of experts at step 100' }).waitFor();
    await page.keyboard.press(']');
    await page.getByRole('heading', { name: 'Load of experts at step 4,000' }).waitFor();
    expect(page.url()).not.toContain('step=');
    expect(await slider.getAttribute('max')).toBe('19');
  });

  it('are not there in an attempt without records', async () => {
    const page = await visit('/jobs/42/experts?attempt=9');
    await page.getByText('There is no record of attempt 9.').waitFor();
  });

  it('scroll into view when the keyboard selects them', async () => {
    mix(2_048, 120);
    const page = await visit('/jobs/42/experts');
    await map(page).focus();
    const isVisible = () =>
      page.evaluate(() => {
        const cell = document.querySelector('.chosen-cell')!.getBoundingClientRect();
        const host = document.querySelector('.expert-map')!.getBoundingClientRect();
        const top = document.querySelector('.top')!.getBoundingClientRect().bottom;
        return (
          cell.left >= host.left &&
          cell.right <= host.right &&
          cell.top >= top &&
          cell.bottom <= innerHeight
        );
      });
    for (const key of ['End', 'Home']) {
      await page.keyboard.press(key);
      await page.getByText(`, expert ${key === 'End' ? 2047 : 0}: `).waitFor();
      expect(await isVisible()).toBe(true);
    }
    for (let row = 0; row < 119; row++) await page.keyboard.press('ArrowDown');
    await page.getByText(/^Layer 119, expert 0: /).waitFor();
    expect(await isVisible()).toBe(true);
    for (let row = 0; row < 119; row++) await page.keyboard.press('ArrowUp');
    await page.getByText(/^Layer 1, expert 0: /).waitFor();
    expect(await isVisible()).toBe(true);
  });

  it('fit on a canvas that browsers draw', async () => {
    mix(20_000, 2);
    const page = await visit('/jobs/42/experts');
    await map(page).waitFor();
    const pixels = await map(page).evaluate((canvas: HTMLCanvasElement) => [
      canvas.width,
      canvas.getContext('2d')!.getImageData(canvas.width - 200, 3, 200, 1).data.some((v) => v > 0),
    ]);
    expect(pixels[0]).toBeLessThanOrEqual(16_384);
    expect(pixels[1]).toBe(true);
  });

  it('are not there before the first record', async () => {
    mix(0, 16);
    const page = await visit('/jobs/42/experts');
    await page.getByText('No record of experts yet').waitFor();
  });

  it.each(
    (['light', 'dark'] as const).flatMap((theme) =>
      [SCREEN, PHONE].map((viewport) => [theme, viewport] as const),
    ),
  )('break no rule of axe: %s, %o', async (theme, viewport) => {
    for (const [experts, layers] of [[8, 9], [256, 61]] as const) {
      mix(experts, layers);
      const page = await visit('/jobs/42/experts', theme, viewport);
      await map(page).waitFor();
      await page.getByRole('region', { name: 'Balance', exact: true }).locator('canvas').waitFor();
      expect(await violationsOf(page)).toEqual([]);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wide).toBeLessThanOrEqual(0);
      if (folder) {
        mkdirSync(folder, { recursive: true });
        const name = `experts-${experts}-${theme}-${viewport.width}.png`;
        await page.screenshot({ path: join(folder, name), fullPage: true });
      }
      if (experts === 8) await open?.context.close();
    }
  });
});
