// Measures the time of pages from click to pixel, and the cost of the controller's streams, with a
// real controller:
// MEASURE=1 tests/web/run.sh measure
// Prints medians. Checks no limits, because machines differ.
//   LOG_BYTES=1e10 sets the size of the log whose tail is read (default 1e8).
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { loadavg } from 'node:os';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, inject, it } from 'vitest';
import { HEADERS } from './access';
import { WIDE, launch, openPage } from './browser';
import { LiveCluster, SeededCluster } from './cluster';
import { jobNumber, sweepNumbers } from './seeded';

const RUNS = 9;
const base = inject('seeded');
const programs = process.env['TRAINYARD_BIN'] ?? '';

const median = (values: number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

function printTimes(name: string, times: number[], unit = 'ms'): void {
  const all = times.map((time) => time.toFixed(0)).join(' ');
  const load = loadavg()[0]?.toFixed(1);
  console.log(`${name}: median ${median(times).toFixed(0)} ${unit} of ${all}; load ${load}`);
}

// The expected final content of the page: `count` elements. The first element has this text.
interface Goal {
  selector: string;
  count?: number;
  text?: string;
}

// Returns the milliseconds from a change of the URL, as by a click on a link, to the frame after
// the goal is reached.
const toPixel = (page: Page, path: string, goal: Goal) =>
  page.evaluate(
    async ([to, { selector, count = 1, text = '' }]) => {
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const reached = () => {
        const found = document.querySelectorAll(selector);
        return found.length >= count && new RegExp(text).test(found[0]?.textContent ?? '');
      };
      const begin = performance.now();
      history.pushState(null, '', to);
      dispatchEvent(new PopStateEvent('popstate'));
      while (!reached()) await frame();
      await frame();
      return performance.now() - begin;
    },
    [path, goal] as const,
  );

const LOSS_DENSITY = '[aria-label="Loss"] .density';

describe.runIf(process.env['MEASURE'] && base !== '')('from click to pixel', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  // Measures a page after its code has been loaded, but before its data is loaded.
  async function measure(name: string, from: string, to: string, goal: Goal, at = base) {
    const times: number[] = [];
    for (let run = 0; run < RUNS; run++) {
      const { page, context } = await openPage(browser, at + to);
      await page.locator(goal.selector).first().waitFor();
      await page.evaluate((path) => {
        history.pushState(null, '', path);
        dispatchEvent(new PopStateEvent('popstate'));
      }, from);
      await page.waitForTimeout(700);
      times.push(await toPixel(page, to, goal));
      await context.close();
    }
    printTimes(name, times);
  }

  it('first chart, nothing cached', async () => {
    const path = `/jobs/${await jobNumber(base, 'llama3-8b-c4')}`;
    const times: number[] = [];
    for (let run = 0; run < RUNS; run++) {
      const context = await browser.newContext({ viewport: WIDE, extraHTTPHeaders: HEADERS });
      const page = await context.newPage();
      await page.addInitScript(() => {
        const look = () => {
          if (!document.querySelector('.panel canvas')) requestAnimationFrame(look);
          else requestAnimationFrame(() => performance.mark('first-chart'));
        };
        requestAnimationFrame(look);
      });
      await page.goto(base + path);
      await page.waitForFunction(() => performance.getEntriesByName('first-chart').length > 0);
      // Milliseconds since the start of the navigation, by the browser's own clock.
      times.push(
        await page.evaluate(() => performance.getEntriesByName('first-chart')[0]!.startTime),
      );
      await context.close();
    }
    printTimes('first chart, cold', times);
  }, 120_000);

  it('table of 10,000 jobs', async () => {
    await measure('table of 10,000 jobs', '/queue', '/jobs', { selector: 'tbody tr', count: 30 });
  }, 120_000);

  it('map of 1,024 ranks', async () => {
    const job = `/jobs/${await jobNumber(base, 'dense-405b')}`;
    const goal = { selector: '.rank-canvas[data-drawn="1024"]' };
    await measure('map of 1,024 ranks', `${job}/config`, `${job}/ranks`, goal);
  }, 120_000);

  it('cluster of 136 nodes', async () => {
    await measure('cluster of 136 nodes', '/queue', '/', { selector: '.map-node', count: 136 });
  }, 120_000);

  it('run of 1,000,000 points, and zooms into it', async () => {
    const path = `/jobs/${await jobNumber(base, 'tiny-million')}`;
    const goal = { selector: LOSS_DENSITY, text: 'Each point averages' };
    await measure('run of 1,000,000 points', '/jobs', path, goal);
    const all = { selector: '.panels .chart canvas', count: 7 };
    await measure('run of 1,000,000 points, all seven charts', '/jobs', path, all);
    const zooms: [string, string, string][] = [
      ['100,000', '?from=400000&to=500000', 'averages 126 steps'],
      ['700', '?from=450000&to=450699', '700 points'],
      ['100', '?from=450100&to=450199', '100 points'],
    ];
    for (const [points, query, text] of zooms) {
      const times: number[] = [];
      for (let run = 0; run < RUNS; run++) {
        const { page, context } = await openPage(browser, base + path);
        await page.locator(LOSS_DENSITY).waitFor();
        await page.waitForTimeout(500);
        times.push(await toPixel(page, path + query, { selector: LOSS_DENSITY, text }));
        await context.close();
      }
      printTimes(`zoom to ${points} points`, times);
    }
  }, 300_000);

  it('overlay of 50 runs', async () => {
    const path = `/compare?jobs=${(await sweepNumbers(base)).join(',')}`;
    const goal = { selector: '.compare-runs tbody tr', count: 50 };
    await measure('overlay of 50 runs', '/queue', path, goal);
  }, 120_000);

  it('tail of a long log', async () => {
    const logBytes = Number(process.env['LOG_BYTES'] ?? 1e8);
    const cluster = new SeededCluster(programs);
    await cluster.start({ jobs: 0, sweep: 0, points: 1_000, logBytes });
    try {
      const job = `/jobs/${await jobNumber(cluster.url, 'tiny-million')}`;
      const goal = { selector: '.log-row', count: 20 };
      const name = `tail of a log of ${logBytes / 1e9} GB`;
      await measure(name, `${job}/config`, `${job}/logs`, goal, cluster.url);
    } finally {
      await cluster.stop();
    }
  }, 1_800_000);

  it('metric to pixel', async () => {
    const cluster = new LiveCluster(programs);
    await cluster.start(2);
    try {
      const job = await cluster.submitPrinter('talker', 3_000);
      const { page, context } = await openPage(browser, `${cluster.url}/jobs/${job}`);
      await page.locator('.figure.step dd').first().waitFor();
      const seen = await page.evaluate(async () => {
        const steps: [number, number][] = [];
        const step = document.querySelector('.figure.step dd')!;
        const note = () => {
          const now = Number(step.firstChild?.textContent?.replaceAll(',', ''));
          requestAnimationFrame(() => steps.push([now, Date.now()]));
        };
        new MutationObserver(note).observe(step, { characterData: true, subtree: true });
        await new Promise((resolve) => setTimeout(resolve, 15_000));
        return steps;
      });
      const { series } = (await cluster.get(`/jobs/${job}/series?keys=loss`)) as {
        series: { steps: number[]; times_ms: number[] }[];
      };
      const { steps = [], times_ms: times = [] } = series[0] ?? {};
      const written = new Map(steps.map((step, index) => [step, times[index] ?? 0]));
      const known = seen.filter(([step]) => written.has(step));
      const ages = known.map(([step, at]) => at - written.get(step)!);
      printTimes('metric emitted to pixel', ages);
      await context.close();
    } finally {
      await cluster.stop();
    }
  }, 120_000);
});

// Returns the CPU time that a process has used, in seconds.
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

describe.runIf(process.env['MEASURE'] && base !== '')('what open pages cost', () => {
  it('200 streams while jobs run', async () => {
    const pid = inject('controllerPid');
    const big = await jobNumber(base, 'llama3-8b-c4');
    const topics = ['jobs', 'nodes', 'events', `job:${big}`, `metrics:${big}`, `logs:${big}`];
    const path = `/api/v1/events/stream?topics=${topics.join(',')}`;
    const share = async () => {
      const [before, begin] = [cpuSeconds(pid), Date.now()];
      await new Promise((resolve) => setTimeout(resolve, 15_000));
      return ((cpuSeconds(pid) - before) / (Date.now() - begin)) * 1e5;
    };
    const without = await share();
    let bytes = 0;
    const streams = Array.from({ length: 200 }, () => {
      const count = (data: Buffer) => {
        bytes += data.length;
      };
      const request = get(base + path, { headers: HEADERS }, (answer) => answer.on('data', count));
      request.on('error', () => undefined);
      return request;
    });
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    bytes = 0;
    const withThem = await share();
    console.log(
      `200 streams: controller ${without.toFixed(1)} % of a core without them, ` +
        `${withThem.toFixed(1)} % with; ${(bytes / 15 / 200 / 1e3).toFixed(1)} kB/s each; ` +
        `load ${loadavg()[0]?.toFixed(1)}`,
    );
    for (const request of streams) request.destroy();
  }, 120_000);
});
