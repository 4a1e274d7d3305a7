// How long pages take from the click to the pixel, with the fixture server's own time in it:
// MEASURE=1 tests/web/run.sh measure. Prints medians; judges nothing, since machines differ.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { launch, openPage } from './browser';
import { largeCluster } from './fixtures';
import { FixtureServer } from './fixture_server';

const RUNS = 5;

// Milliseconds from the click on a link to the second frame after `selector` has `count` elements.
const clickToPixel = (page: Page, href: string, selector: string, count: number) =>
  page.evaluate(
    async ([to, wanted, amount]) => {
      const link = document.querySelector<HTMLAnchorElement>(`a[href="${to}"]`);
      const begin = performance.now();
      link?.click();
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      while (document.querySelectorAll(wanted as string).length < (amount as number)) await frame();
      await frame();
      return performance.now() - begin;
    },
    [href, selector, count] as const,
  );

const median = (values: number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

describe.runIf(process.env['MEASURE'])('from click to pixel', () => {
  let browser: Browser;
  const server = new FixtureServer(largeCluster());

  beforeAll(async () => {
    browser = await launch();
    await server.start();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  it.each([
    ['table of 10,000 jobs', '/queue', '/jobs', 'tbody tr', 30],
    ['map of 1,024 ranks', '/jobs/10000/config', '/jobs/10000/ranks', '.rank', 1024],
    ['cluster of 128 nodes', '/queue', '/', '.map-node', 128],
  ] as const)(
    '%s',
    async (name, from, to, selector, count) => {
      const times: number[] = [];
      for (let run = 0; run < RUNS; run++) {
        const { page, context } = await openPage(browser, server.url + to);
        // Warm: the code of the page is loaded, its data is not.
        await page.locator(selector).first().waitFor();
        await page.evaluate((path) => {
          history.pushState(null, '', path);
          dispatchEvent(new PopStateEvent('popstate'));
        }, from);
        await page.waitForTimeout(800);
        times.push(await clickToPixel(page, to, selector, count));
        await context.close();
      }
      console.log(`${name}: ${median(times).toFixed(0)} ms (${times.map((t) => t.toFixed(0))})`);
    },
    120_000,
  );
});
