// Tests that the pages show the health of jobs within seconds, with a real controller and worker.
// Each job runs ../fakes/sick_trainer.py with one fault. The fault lasts while a file exists. No
// page may show a word for the healthy job.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch, openPage } from './browser';
import { LiveCluster, until } from './cluster';

const programs = process.env['TRAINYARD_BIN'] ?? '';
const built = existsSync(join(programs, 'trainyard-controller'));
const TRAINER = new URL('../fakes/sick_trainer.py', import.meta.url).pathname;

// Maximum time from the first moment at which a word can apply until every page shows it.
const SOON_SECONDS = 10;
const HEALTHY = 'steady';
const WORDS = 'healed|slow|unsaved|looping|diverging|stalled';

interface SickJob {
  // Contains no health word, because the test searches pages for these words.
  name: string;
  fault: string;
  word: string;
  // Time from the fault to the first moment at which the word can apply.
  seconds: number;
  // Number of steps before the fault.
  steps: number;
  // True if the word no longer applies within seconds after the fault.
  endsSoon: boolean;
  slots?: number;
  more?: object;
}

const RETRIES = { max_restarts: 20, backoff_max: '4s', rules: ['retry .'] };

const SICK: SickJob[] = [
  {
    name: 'frozen',
    fault: 'stall',
    word: 'stalled',
    // A gang with short steps is stalled after this time without a step.
    seconds: 5,
    steps: 20,
    endsSoon: true,
    slots: 2,
    more: { watchdog: { action: 'alert' } },
  },
  { name: 'overflow', fault: 'diverge', word: 'diverging', seconds: 0, steps: 20, endsSoon: true },
  // The trainer saves every 2 s.
  { name: 'diskless', fault: 'unsaved', word: 'unsaved', seconds: 3, steps: 20, endsSoon: true },
  {
    name: 'crasher',
    fault: 'crash',
    word: 'looping',
    // Three attempts, with a backoff before the second and the third.
    seconds: 15,
    steps: 20,
    endsSoon: false,
    more: { restart: RETRIES },
  },
  {
    name: 'throttled',
    fault: 'slow',
    word: 'slow',
    // Rates are compared in windows of 10 s. A fault within a window may become visible only in the
    // median of the next window.
    seconds: 20,
    // The first three windows, of about 100 steps each, show the best rate of the run.
    steps: 310,
    endsSoon: false,
  },
];
const NAMES = SICK.map(({ name }) => name).join('|');

// Finds texts that begin with one of the words, such as a badge. The `|` separates words.
const wordsIn = (place: Page | Locator, words: string): Locator =>
  place.getByText(new RegExp(`^\\s*(${words})\\b`, 'i'));

// Finds the rows of a job in tables and lists. Lists of events are excluded: they show the past.
const rowsOf = (page: Page, name: string): Locator =>
  page.locator('tr, li:not(.events li)').filter({ hasText: name });

// Finds rows that name only the healthy job but contain a health word, such as `stalled`.
const wrongRows = (page: Page): Locator =>
  rowsOf(page, HEALTHY)
    .filter({ hasNotText: new RegExp(NAMES) })
    .filter({ has: wordsIn(page, WORDS) });

describe.runIf(programs !== '' && built)('the health of jobs', () => {
  let browser: Browser;
  const jobs = new Map<string, number>();
  const cluster = new LiveCluster(programs);
  const switches = mkdtempSync(join(tmpdir(), 'trainyard-web-switches-'));
  const switchOf = (name: string) => join(switches, name);

  const submit = async (name: string, fault: string, slots = 1, more: object = {}) => {
    const job = {
      name,
      resources: { slots_per_node: slots, device: 'cpu' },
      command: ['/usr/bin/python3', TRAINER, fault, switchOf(name)],
      ...more,
    };
    const answer = await cluster.post('/jobs', { job_file: JSON.stringify(job) });
    jobs.set(name, (answer as { job: { id: number } }).job.id);
  };

  const stepOf = async (name: string) => {
    const answer = await cluster.get(`/jobs/${jobs.get(name)}`);
    return (answer as { job: { progress?: { step?: number } } }).job.progress?.step ?? 0;
  };

  const open = async (path: string) => (await openPage(browser, `${cluster.url}${path}`)).page;

  // Opens the pages before the fault, because a user may already be viewing a page.
  const openPages = async (name: string) => {
    const [overview, list] = [await open('/'), await open('/jobs')];
    const own = await open(`/jobs/${jobs.get(name)}`);
    for (const page of [overview, list]) {
      await rowsOf(page, name).first().waitFor();
      await rowsOf(page, HEALTHY).first().waitFor();
    }
    await own.locator('.job-title').getByText(name).waitFor();
    return { overview, list, own };
  };

  // Waits until the word is on each page, or on no page.
  const awaitWord = async (
    { overview, list, own }: Awaited<ReturnType<typeof openPages>>,
    { name, word, seconds }: SickJob,
    shown: boolean,
  ) => {
    const timeout = (seconds + SOON_SECONDS) * 1_000;
    const places = [overview, list].map((page) =>
      rowsOf(page, name).filter({ has: wordsIn(page, word) }),
    );
    places.push(wordsIn(own.locator('.job-title'), word));
    const isIn = async (place: Locator) => (await place.count()) > 0;
    await Promise.all([
      ...places.map((place) => expect.poll(() => isIn(place), { timeout }).toBe(shown)),
      expect.poll(async () => (await own.title()).includes(word), { timeout }).toBe(shown),
      // The other pages have the worst word of all jobs in their titles.
      shown && expect.poll(() => overview.title(), { timeout }).toMatch(new RegExp(WORDS)),
    ]);
  };

  beforeAll(async () => {
    browser = await launch();
    await cluster.start(1, 8);
    for (const { name, fault, slots, more } of SICK) await submit(name, fault, slots, more);
    await submit(HEALTHY, 'none');
  });
  afterAll(async () => {
    await browser?.close();
    await cluster.stop();
    rmSync(switches, { recursive: true, force: true });
  });

  it.each(SICK)('shows the word $word on each page within seconds', async (sick) => {
    const { name, steps, endsSoon } = sick;
    await until(`step ${steps}`, async () => ((await stepOf(name)) >= steps ? true : undefined));
    const pages = await openPages(name);
    await awaitWord(pages, sick, false);
    writeFileSync(switchOf(name), '');
    await awaitWord(pages, sick, true);
    for (const page of [pages.overview, pages.list]) expect(await wrongRows(page).count()).toBe(0);
    if (endsSoon) {
      rmSync(switchOf(name));
      await awaitWord(pages, sick, false);
    }
    for (const page of Object.values(pages)) await page.context().close();
  });

  it('shows no word on the page of the healthy job', async () => {
    const page = await open(`/jobs/${jobs.get(HEALTHY)}`);
    await page.locator('.job-title').getByText('running').waitFor();
    expect(await wordsIn(page.locator('.job-header'), WORDS).count()).toBe(0);
    expect(await page.title()).not.toMatch(new RegExp(WORDS));
    await page.context().close();
  });
});
