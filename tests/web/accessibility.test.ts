// axe on every page in both themes: WCAG 2.2 AA.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PHONE, launch, openPage, type Theme } from './browser';
import { busyCluster, emptyCluster } from './fixtures';
import { FixtureServer } from './fixture_server';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const PAGES = [
  '/',
  '/jobs',
  '/queue',
  '/nodes',
  '/events',
  '/compare?jobs=38,42',
  '/jobs/42',
  '/jobs/42/ranks',
  '/jobs/42/timeline',
  '/jobs/42/checkpoints',
  '/jobs/42/logs?grep=behind',
  '/jobs/42/config',
  '/jobs/42/config?against=43',
  '/jobs/42/events',
  '/jobs/44',
  '/jobs/39/timeline',
  '/nothing',
];

describe('axe', () => {
  let browser: Browser;
  const busy = new FixtureServer(busyCluster());
  const empty = new FixtureServer(emptyCluster());

  beforeAll(async () => {
    browser = await launch();
    await busy.start();
    await empty.start();
  });
  afterAll(async () => {
    await browser.close();
    await busy.stop();
    await empty.stop();
  });

  async function violations(url: string, theme: Theme, keys: string[], phone: boolean) {
    const { page, context } = await openPage(browser, url, theme, phone ? PHONE : undefined);
    await page.waitForTimeout(500);
    for (const key of keys) await page.keyboard.press(key);
    // In a world of its own the content security policy of the page does not stand in the way.
    await page.evaluate(AXE);
    const results = await page.evaluate(async (tags) => {
      const { axe } = window as unknown as { axe: { run(o: object): Promise<AxeResults> } };
      return axe.run({ runOnly: tags });
    }, TAGS);
    await context.close();
    return results.violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(({ html, any }) => `${html.slice(0, 120)} ${any[0]?.message ?? ''}`)
          .join(' | ')}`,
    );
  }

  describe.each<Theme>(['light', 'dark'])('%s', (theme) => {
    it.each(PAGES)('%s', async (path) => {
      expect(await violations(busy.url + path, theme, [], false)).toEqual([]);
    });
    it.each(['/', '/jobs', '/nodes'])('empty %s', async (path) => {
      expect(await violations(empty.url + path, theme, [], false)).toEqual([]);
    });
    it('key list', async () => {
      expect(await violations(busy.url, theme, ['?'], false)).toEqual([]);
    });
    it('palette', async () => {
      expect(await violations(busy.url, theme, ['Control+k'], false)).toEqual([]);
    });
    it.each(['/', '/jobs/42'])('phone %s', async (path) => {
      expect(await violations(busy.url + path, theme, [], true)).toEqual([]);
    });
  });
});
