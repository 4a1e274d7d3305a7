// Pictures of every page for people to look at: SCREENSHOTS=DIR tests/web/run.sh
import { mkdirSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PHONE, WIDE, launch, openPage, type Theme } from './browser';
import { busyCluster, emptyCluster } from './fixtures';
import { FixtureServer } from './fixture_server';

const folder = process.env['SCREENSHOTS'];
const PAGES: Record<string, string> = {
  overview: '/',
  jobs: '/jobs',
  queue: '/queue',
  nodes: '/nodes',
  events: '/events',
  compare: '/compare?jobs=38,42,43,40',
  curves: '/jobs/42',
  smooth: '/jobs/42?smooth=0.9&y=log',
  ranks: '/jobs/42/ranks',
  timeline: '/jobs/42/timeline',
  checkpoints: '/jobs/42/checkpoints',
  logs: '/jobs/42/logs',
  config: '/jobs/42/config',
  diff: '/jobs/42/config?against=43',
  'job-events': '/jobs/42/events',
  waiting: '/jobs/44',
  failed: '/jobs/39/timeline',
};
const LOOKS: [string, Theme, typeof WIDE][] = [
  ['wide-light', 'light', WIDE],
  ['wide-dark', 'dark', WIDE],
  ['phone-light', 'light', PHONE],
  ['phone-dark', 'dark', PHONE],
];

describe.runIf(folder)('screenshots', () => {
  let browser: Browser;
  const server = new FixtureServer(busyCluster());
  const empty = new FixtureServer(emptyCluster());

  beforeAll(async () => {
    mkdirSync(folder as string, { recursive: true });
    browser = await launch();
    await server.start();
    await empty.start();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
    await empty.stop();
  });

  it.each(LOOKS)(
    '%s',
    async (look, theme, viewport) => {
      const only = process.env['PAGES']?.split(',');
      for (const [name, path] of Object.entries({ ...PAGES, empty: '/' })) {
        if (only && !only.includes(name)) continue;
        const at = name === 'empty' ? empty : server;
        const { page, context, complaints } = await openPage(
          browser,
          at.url + path,
          theme,
          viewport,
        );
        await page.waitForTimeout(500);
        await page.screenshot({
          path: `${folder}/${name}-${look}.png`,
          fullPage: viewport === PHONE,
        });
        expect(complaints, name).toEqual([]);
        await context.close();
      }
    },
    120_000,
  );
});
