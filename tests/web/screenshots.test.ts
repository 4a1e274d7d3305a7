// Takes screenshots of every page, for review:
// SCREENSHOTS=DIR [PAGES=a,b] tests/web/run.sh screenshots
import { mkdirSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { PHONE, WIDE, launch, openPage, type Theme } from './browser';
import { jobNumber, sweepNumbers } from './seeded';

const folder = process.env['SCREENSHOTS'];
const base = inject('seeded');

async function addresses(): Promise<Record<string, string>> {
  const job = (name: string) => jobNumber(base, name);
  const live = `/jobs/${await job('llama3-8b-c4')}`;
  const big = `/jobs/${await job('dense-405b')}`;
  const sweep = await sweepNumbers(base);
  return {
    overview: '/',
    jobs: '/jobs',
    queue: '/queue',
    nodes: '/nodes',
    node: '/nodes/gpu136',
    events: '/events',
    usage: '/usage?by=job&period=all',
    compare: `/compare?jobs=${sweep.slice(0, 4).join(',')}`,
    compare50: `/compare?jobs=${sweep.join(',')}`,
    scatter: `/compare?jobs=${sweep.join(',')}&key=loss,grad_norm&plot=scatter`,
    parallel: `/compare?jobs=${sweep.join(',')}&by=optimizer.lr&draw=means&plot=parallel`,
    baseline: `${live}?baseline=${await job('llama3-1b-base')}`,
    restarted: live,
    smooth: `${live}?smooth=0.9&y=log`,
    ranks: `${live}/ranks`,
    ranks1024: `${big}/ranks`,
    pipeline: `${big}/ranks?by=pp`,
    timeline: `${live}/timeline`,
    checkpoints: `${live}/checkpoints`,
    logs: `${live}/logs`,
    found: `${live}/logs?grep=behind`,
    config: `${live}/config`,
    diff: `${live}/config?against=${await job('dense-405b')}`,
    'job-events': `${live}/events`,
    live: big,
    waiting: `/jobs/${await job('qwen3-32b-warmup')}`,
    backoff: `/jobs/${await job('vision-adapter')}`,
    failed: `/jobs/${await job('tokenizer-check')}`,
    'failed-timeline': `/jobs/${await job('tokenizer-check')}/timeline`,
    finished: `/jobs/${await job('llama3-1b-base')}`,
    planner: '/planner?recipe=llama3-70b&device=H100&nodes=8',
    'planner-1024': '/planner?recipe=llama3.1-405b&device=H100&nodes=128',
    'planner-none': '/planner?recipe=llama3-70b&device=A100&nodes=1',
    submit: '/submit?recipe=llama3-8b',
    million: `/jobs/${await job('tiny-million')}`,
    empty: '/',
    'empty-jobs': '/jobs',
    'empty-nodes': '/nodes',
    'empty-queue': '/queue',
    'empty-compare': '/compare',
    'empty-events': '/events',
  };
}

const LOOKS: [string, Theme, typeof WIDE][] = [
  ['wide-light', 'light', WIDE],
  ['wide-dark', 'dark', WIDE],
  ['phone-light', 'light', PHONE],
  ['phone-dark', 'dark', PHONE],
];

describe.runIf(folder && base !== '')('screenshots', () => {
  let browser: Browser;

  beforeAll(async () => {
    mkdirSync(folder as string, { recursive: true });
    browser = await launch();
  });
  afterAll(() => browser.close());

  it.each(LOOKS)(
    '%s',
    async (look, theme, viewport) => {
      const only = process.env['PAGES']?.split(',');
      for (const [name, path] of Object.entries(await addresses())) {
        if (only && !only.includes(name)) continue;
        const url = (name.startsWith('empty') ? inject('empty') : base) + path;
        const { page, context, complaints } = await openPage(browser, url, theme, viewport);
        await page.getByText('live', { exact: true }).waitFor();
        await page.waitForTimeout(1_200);
        await page.screenshot({
          path: `${folder}/${name}-${look}.png`,
          fullPage: viewport === PHONE && !name.startsWith('rank'),
        });
        expect(complaints, name).toEqual([]);
        await context.close();
      }
    },
    300_000,
  );
});
