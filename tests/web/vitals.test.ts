// Measures paint, layout shift and the cost of scrolling at 136 nodes, 1,024 ranks and 10,000 jobs,
// with a real controller:
// MEASURE=1 tests/web/run.sh vitals
// Prints medians and extremes. Checks no limits, because machines differ.
import { loadavg } from 'node:os';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, inject, it } from 'vitest';
import { HEADERS } from './access';
import { WIDE, launch } from './browser';
import { jobNumber } from './seeded';

const RUNS = 7;
const base = inject('seeded');

interface Vitals {
  paint: number; // Milliseconds from the navigation to the first contentful paint.
  largest: number; // To the largest contentful paint.
  shift: number; // Cumulative layout shift in the first five seconds.
}

// Loads a page whose files are in the browser's cache.
async function vitalsOf(page: Page, url: string): Promise<Vitals> {
  await page.goto(url);
  return page.evaluate(
    () =>
      new Promise<Vitals>((resolve) => {
        const vitals = { paint: 0, largest: 0, shift: 0 };
        const watch = (type: string, take: (entry: PerformanceEntry) => void) =>
          new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({
            type,
            buffered: true,
          });
        watch('paint', ({ name, startTime }) => {
          if (name === 'first-contentful-paint') vitals.paint = startTime;
        });
        watch('largest-contentful-paint', ({ startTime }) => {
          vitals.largest = startTime;
        });
        watch('layout-shift', (entry) => {
          const shift = entry as PerformanceEntry & { value: number; hadRecentInput: boolean };
          if (!shift.hadRecentInput) vitals.shift += shift.value;
        });
        setTimeout(() => resolve(vitals), 5000);
      }),
  );
}

interface Scrolling {
  longest: number; // Milliseconds of the longest task.
  frame: number; // Milliseconds of script, style and layout per frame.
}

// Scrolls through the page by the wheel, one step a frame.
async function scrollingOf(page: Page): Promise<Scrolling> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const seconds = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    const parts = ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'];
    return metrics.reduce((sum, { name, value }) => sum + (parts.includes(name) ? value : 0), 0);
  };
  const before = await seconds();
  const { longest, frames, reached } = await page.evaluate(
    () =>
      new Promise<{ longest: number; frames: number; reached: number }>((resolve) => {
        let longest = 0;
        let frames = 0;
        let reached = 0;
        new PerformanceObserver((list) => {
          for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
        }).observe({ type: 'longtask' });
        const step = () => {
          window.scrollBy(0, frames < 120 ? 90 : -90);
          reached = Math.max(reached, window.scrollY);
          if (++frames < 240) requestAnimationFrame(step);
          else setTimeout(() => resolve({ longest, frames, reached }), 300);
        };
        requestAnimationFrame(step);
      }),
  );
  if (reached === 0) throw new Error('the page did not scroll');
  return { longest, frame: (1000 * ((await seconds()) - before)) / frames };
}

function print(name: string, values: number[], digits: number): void {
  const sorted = [...values].sort((a, b) => a - b);
  const [least, middle, most] = [0, sorted.length >> 1, sorted.length - 1].map((index) =>
    (sorted[index] ?? 0).toFixed(digits),
  );
  console.log(`${name}: ${middle} (${least} to ${most}); load ${loadavg()[0]?.toFixed(1)}`);
}

describe.runIf(process.env['MEASURE'] && base !== '')('a large cluster', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  async function measure(name: string, path: string): Promise<void> {
    const context = await browser.newContext({ viewport: WIDE, extraHTTPHeaders: HEADERS });
    const page = await context.newPage();
    await page.goto(base + path);
    const vitals: Vitals[] = [];
    const scrolling: Scrolling[] = [];
    for (let run = 0; run < RUNS; run++) {
      vitals.push(await vitalsOf(page, base + path));
      scrolling.push(await scrollingOf(page));
    }
    await context.close();
    const all = (take: (one: Vitals) => number) => vitals.map(take);
    print(`${name}: first paint, ms`, all(({ paint }) => paint), 0);
    print(`${name}: largest paint, ms`, all(({ largest }) => largest), 0);
    print(`${name}: layout shift`, all(({ shift }) => shift), 3);
    print(`${name}: longest task while scrolling, ms`, scrolling.map(({ longest }) => longest), 0);
    print(`${name}: script, style and layout, ms a frame`, scrolling.map(({ frame }) => frame), 1);
  }

  it.each([
    ['Overview', '/'],
    ['Jobs', '/jobs'],
    ['Queue', '/queue'],
    ['Nodes', '/nodes'],
    ['Events', '/events'],
  ])('%s', async (name, path) => measure(name, path), 180_000);

  it('job page of 1,024 ranks', async () => {
    await measure('Job', `/jobs/${await jobNumber(base, 'dense-405b')}`);
  }, 180_000);
});
