// Checks every page in both themes with axe, by the rules of WCAG 2.2 AA.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { violationsOf } from './axe';
import { PHONE, launch, openPage, type Theme } from './browser';
import { jobNumber, sweepNumbers } from './seeded';

// In these paths, {name} is replaced with the number of the job that has this name.
const PAGES = [
  '/',
  '/jobs',
  '/queue',
  '/nodes?node=gpu13',
  '/nodes/gpu136',
  '/events',
  '/usage?by=week&period=all',
  '/compare?jobs={sweep}',
  '/compare?jobs={sweep}&by=optimizer.lr&plot=parallel',
  '/jobs/{llama3-8b-c4}',
  '/jobs/{llama3-8b-c4}/ranks',
  '/jobs/{llama3-8b-c4}/timeline',
  '/jobs/{llama3-8b-c4}/checkpoints',
  '/jobs/{llama3-8b-c4}/logs?grep=behind',
  '/jobs/{llama3-8b-c4}/config',
  '/jobs/{llama3-8b-c4}/config?against={dense-405b}',
  '/jobs/{llama3-8b-c4}/events',
  '/jobs/{qwen3-32b-warmup}',
  '/jobs/{tokenizer-check}/timeline',
  '/jobs/{tiny-million}',
  '/planner?recipe=llama3-70b&device=H100&nodes=8',
  '/planner?recipe=llama3-70b&device=A100&nodes=1',
  '/submit?recipe=llama3-8b',
  '/nothing',
];
const base = inject('seeded');
const empty = inject('empty');

async function address(path: string): Promise<string> {
  let text = path.replace('{sweep}', (await sweepNumbers(base)).slice(0, 5).join(','));
  for (const [hole, name] of path.matchAll(/\{([^}]+)\}/g)) {
    if (name !== 'sweep') text = text.replace(hole, String(await jobNumber(base, name as string)));
  }
  return base + text;
}

describe.runIf(base !== '')('axe', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  async function violations(url: string, theme: Theme, keys: string[], phone: boolean) {
    const { page, context } = await openPage(browser, url, theme, phone ? PHONE : undefined);
    await page.getByText('live', { exact: true }).waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    for (const key of keys) await page.keyboard.press(key);
    const found = await violationsOf(page);
    await context.close();
    return found;
  }

  describe.each<Theme>(['light', 'dark'])('%s', (theme) => {
    it.each(PAGES)('%s', async (path) => {
      expect(await violations(await address(path), theme, [], false)).toEqual([]);
    });
    it.each(['/', '/jobs', '/nodes'])('empty %s', async (path) => {
      expect(await violations(empty + path, theme, [], false)).toEqual([]);
    });
    it('key list', async () => {
      expect(await violations(base, theme, ['?'], false)).toEqual([]);
    });
    it('palette', async () => {
      expect(await violations(base, theme, ['Control+k'], false)).toEqual([]);
    });
    it.each(['/', '/jobs/{llama3-8b-c4}', '/planner'])('phone %s', async (path) => {
      expect(await violations(await address(path), theme, [], true)).toEqual([]);
    });
  });
});
