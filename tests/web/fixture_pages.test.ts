// Tests pages in states that the seeded history lacks, with the fixture server.
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import type { EventEntry } from '../../web/src/api/types';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launch, openPage, type OpenPage } from './browser';
import { MINUTE, NOW, alert, busyCluster, emptyCluster, type Cluster } from './fixtures';
import { NO_ESTIMATE } from './no_estimate';
import { FixtureServer, GRPC_PORT } from './fixture_server';

let browser: Browser;
let server: FixtureServer;
let open: OpenPage | undefined;

const LAPTOP = { width: 1280, height: 720 };

async function visit(path: string, viewport = LAPTOP): Promise<Page> {
  open = await openPage(browser, server.url + path, 'light', viewport);
  return open.page;
}

const jobOf = (id: number) => server.cluster.jobs.find((job) => job.id === id)!;
const serve = (cluster: Cluster) => {
  server.cluster = cluster;
};

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

describe('an empty cluster', () => {
  it.each(['/', '/nodes'])('tells workers the port of the controller: %s', async (path) => {
    serve(emptyCluster());
    const page = await visit(path);
    const line = `trainyard-worker --controller 127.0.0.1:${GRPC_PORT} --data-dir DIR`;
    await page.getByText(line).first().waitFor();
  });
});

describe('the ledger', () => {
  it('shows the time of the slots by user, and the sum', async () => {
    const page = await visit('/');
    const table = page.getByRole('region', { name: 'Ledger' }).getByRole('table');
    await table.getByRole('row', { name: /^grace .* 75\.0 %$/ }).waitFor();
    await table.getByRole('row', { name: /^total/ }).waitFor();
    expect(await table.locator('.phase-restart').count()).toBe(2);
  });
});

describe('what was removed while a page is open', () => {
  const live = (page: Page) => page.getByText('live', { exact: true }).waitFor();

  it('leaves the nodes', async () => {
    const page = await visit('/nodes');
    await live(page);
    const { id, name } = server.cluster.nodes[5]!;
    const row = page.getByText(name, { exact: true });
    await row.first().waitFor();
    server.remove(id, 0);
    await expect.poll(() => row.count()).toBe(0);
  });

  it('leaves the list of jobs, and the page of the job says so', async () => {
    const page = await visit('/jobs');
    await live(page);
    const row = page.getByRole('link', { name: jobOf(42).name, exact: true });
    await row.waitFor();
    server.remove('none', 42);
    await row.waitFor({ state: 'detached' });
    await open?.context.close();
    server.cluster = busyCluster();
    const job = await visit('/jobs/42');
    await live(job);
    await job.getByRole('heading', { name: jobOf(42).name }).waitFor();
    server.remove('none', 42);
    await job.getByText('Job 42 was deleted').waitFor();
  });
});

describe('a download', () => {
  it('saves what the controller answers', async () => {
    const page = await visit('/jobs/42/logs');
    const begun = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Whole log' }).click();
    const file = await begun;
    expect(file.suggestedFilename()).toBe(`${jobOf(42).name}-42.log`);
    expect(await readFile(await file.path(), 'utf8')).toContain('grad_norm');
  });

  it('says why it failed', async () => {
    const page = await visit('/jobs/42');
    await page.route(/format=csv/, (route) => route.fulfill({ status: 503, body: 'no' }));
    await page.getByRole('button', { name: 'Loss as CSV' }).click();
    await page.getByText('Download failed: The controller returned HTTP 503').waitFor();
  });
});

describe('nodes in trouble', () => {
  it('have whole names, however long', async () => {
    const { nodes } = server.cluster;
    nodes[4]!.name = 'rack-17-row-b-gpu-server-cordoned-05.training.example.org';
    nodes[5]!.name = 'rack-17-row-b-gpu-server-lost-06.training.example.org';
    const page = await visit('/');
    for (const { name } of [nodes[4]!, nodes[5]!]) {
      const shown = page.locator('.map-node.troubled').getByText(name, { exact: true });
      await shown.waitFor();
      const cut = await shown.evaluate(
        (element) =>
          element.scrollWidth > element.clientWidth + 1 &&
          getComputedStyle(element).display !== 'inline',
      );
      expect(cut, name).toBe(false);
      const box = (await shown.boundingBox())!;
      const tile = (await page.locator('.map-node.troubled', { hasText: name }).boundingBox())!;
      expect(box.x + box.width).toBeLessThanOrEqual(tile.x + tile.width);
    }
  });
});

describe('a loss that is older than the newest step', () => {
  it('is gray with its step in the header, in the list of jobs and on the overview', async () => {
    Object.assign(jobOf(42).progress!, { step: 1_500, loss: 2.31, loss_step: 1_480 });
    const page = await visit('/jobs/42');
    const text = '(step 1,480)';
    await page.locator('.job-header .figure', { hasText: text }).locator('.faint').waitFor();
    await page.goto(`${server.url}/jobs`);
    const row = page.locator('tbody tr', { has: page.locator('a[href="/jobs/42"]') });
    await row.locator('.faint', { hasText: '2.3100' }).waitFor();
    await row.getByText(text).waitFor();
    await page.goto(server.url);
    await page.locator('.run-figures', { hasText: text }).locator('.faint').waitFor();
  });
});

describe('a loss that is not finite', () => {
  it('is red in the header and in the list of jobs', async () => {
    jobOf(42).progress!.loss = 'NaN';
    const page = await visit('/jobs/42');
    await page.locator('.job-header .not-finite.tone-bad', { hasText: 'NaN' }).waitFor();
    await page.goto(`${server.url}/jobs`);
    await page.locator('tbody .not-finite', { hasText: 'NaN' }).waitFor();
  });

  it('is one range on the chart, and red above it', async () => {
    server.notFinite = { first: 2_600, last: 3_200 };
    const page = await visit('/jobs/42');
    const loss = page.getByRole('region', { name: 'Loss', exact: true });
    await loss.locator('.reading .tone-bad', { hasText: 'NaN' }).waitFor();
    const plot = loss.locator('.u-over');
    const box = (await plot.boundingBox())!;
    const texts = new Set<string>();
    for (const share of [0.87, 0.92, 0.97]) {
      await page.mouse.move(box.x + box.width * share, box.y + 80);
      const range = loss.locator('.marker-text', { hasText: 'NaN' });
      await range.waitFor();
      texts.add((await range.textContent())!);
    }
    expect([...texts]).toHaveLength(1);
    expect([...texts][0]).toMatch(/^NaN, steps 2\d{3} to 3104$/);
  });
});

describe('a chart', () => {
  it('has one mark for many equal alerts, and does not look like a loss that is NaN', async () => {
    const message = 'No space left on device';
    server.cluster.alerts = Array.from({ length: 80 }, (_, index) =>
      alert(2_010 + index * 10, 'checkpoint_failed', message),
    );
    const page = await visit('/jobs/42');
    const loss = page.getByRole('region', { name: 'Loss', exact: true });
    const box = (await loss.locator('.u-over').boundingBox())!;
    const moveTo = (step: number) =>
      page.mouse.move(box.x + (box.width * step) / 3_104, box.y + 80);
    await moveTo(2_010);
    const mark = `80 × checkpoint failed, steps 2010 to 2800: ${message}`;
    await loss.locator('.marker-text', { hasText: mark }).waitFor();
    await moveTo(2_700);
    await expect.poll(() => loss.locator('.marker-text').count()).toBe(0);
  });

  it('leaves a few extreme values off scale, and shows the full range at a click', async () => {
    const page = await visit('/jobs/42');
    const norm = page.getByRole('region', { name: 'Gradient norm', exact: true });
    await norm.getByText(/Off scale: up to 6\.\d/).waitFor();
    await norm.getByRole('button', { name: 'Full range' }).click();
    await page.waitForURL(/y=full/);
    await norm.getByText('Zoom in to see every step.').waitFor();
    expect(await norm.getByText('Off scale').count()).toBe(0);
    await page.getByRole('radio', { name: 'typical' }).check({ force: true });
    await norm.getByText('Off scale').waitFor();
  });
});

describe('the last step', () => {
  it('has its age in the header, with a sign when it is late', async () => {
    const page = await visit('/jobs/42');
    await page.locator('.step-age', { hasText: 'reported now' }).waitFor();
    const job = jobOf(42);
    job.progress!.time_ms -= 300_000;
    job.health = {
      word: 'stalled',
      findings: [],
      steps_at_risk: 0,
      saved_step: 0,
      at_risk_since_ms: 0,
    };
    const late = page.locator('.step-age.tone-warn', { hasText: 'reported 5m ago' });
    // Publishes repeatedly until the page shows the change. A single message could be lost while
    // the page reconnects its stream to subscribe to the job.
    const published = () => {
      server.publish(job);
      return late.count();
    };
    await expect.poll(published, { timeout: 30_000 }).toBe(1);
  });
});

describe('a failed job', () => {
  it('says why in the list of jobs', async () => {
    const page = await visit('/jobs');
    const row = page.locator('tbody tr', { hasText: 'tokenizer-check' });
    await row.getByText('rank 0 on gpu03 exited with 65').waitFor();
    expect(await page.locator('.row-reason').count()).toBe(1);
  });

  it('has the rank of the verdict open among its ranks', async () => {
    const job = jobOf(42);
    job.attempts = [job.attempts[0]!];
    job.state = 'failed';
    const page = await visit('/jobs/42/ranks');
    await page.getByRole('region', { name: 'Rank 11', exact: true }).waitFor();
    expect(await page.locator('.rank[data-rank="11"]').getAttribute('aria-pressed')).toBe('true');
  });
});

describe('the timeline of a crash loop', () => {
  it('has one entry for equal attempts, which opens', async () => {
    const job = jobOf(42);
    const [first, second] = job.attempts;
    const crash = { ...first!.verdict!, cause: 'rank_exited' as const, exit_code: 1, signal: 0 };
    const crashes = Array.from({ length: 21 }, (_, index) => ({
      ...{ ...first!, number: index + 1 },
      verdict: { ...crash, rank: index % 16, summary: `rank ${index % 16} exited with code 1` },
    }));
    job.attempts = [...crashes, { ...second!, number: 22 }];
    const page = await visit('/jobs/42/timeline');
    await page.getByRole('heading', { name: 'Attempts 1 to 21' }).waitFor();
    await page.getByText('21 × exited with code 1').waitFor();
    expect(await page.locator('.attempts > li').count()).toBe(23);
    expect(await page.locator('.attempts > li:visible').count()).toBe(2);
    await page.getByText('All 21 attempts').click();
    await page.getByRole('heading', { name: 'Attempt 7', exact: true }).waitFor();
  });
});

describe('the list of events', () => {
  // Events: a restart of job 42, two reports of a failed checkpoint, and 12 reconnecting nodes.
  function crowd() {
    const head = { actor: 'controller', actor_verified: false, leader_term: 0 };
    const at = (minutes: number) => ({ ...head, time_ms: NOW - minutes * MINUTE });
    const verdict = jobOf(42).attempts[0]!.verdict!;
    const of = (attempt: number) => ({ job_id: 42, attempt });
    const failed = { ...of(2), code: 'checkpoint_failed', step: 80, message: 'disk full' };
    const events = [
      { ...at(61), attempt_failed: { ...of(1), verdict } },
      { ...at(60), attempt_ended: of(1) },
      { ...at(58), attempt_running: of(2) },
      ...[0, 1].map(() => ({
        ...{ ...at(30), alert_raised: { ...failed, by_guard: false, by_watchdog: false } },
      })),
      ...Array.from({ length: 12 }, (_, index) => ({
        ...{ ...at(5), node_returned: { node_id: `node-${index}` } },
      })),
    ];
    return events.map((event, index) => ({ sequence: index + 1, event })) as EventEntry[];
  }
  const entries = (page: Page) => page.locator('.events > li > .event-text');

  beforeEach(() => {
    server.cluster.events = crowd();
  });

  it('has one entry for a restart, for reconnects, and for one checkpoint', async () => {
    const page = await visit('/events');
    await entries(page).first().waitFor();
    const [nodes, alerts, restart, ...others] = await entries(page).allTextContents();
    expect(nodes).toMatch(/^ 12 nodes reconnected12 events$/);
    expect(alerts).toContain('checkpoint failed at step 80: disk full (reported 2 times)');
    expect(restart).toMatch(/attempt 1 failed: rank 11 .*; restarted in 3m 00s \(attempt 2\)/);
    expect(others).toEqual([]);
    await page.locator('summary', { hasText: '3 events' }).click();
    await page.getByText('attempt 1 ended').waitFor();
  });

  it('can be filtered by kind, searched, and shown with absolute times', async () => {
    const page = await visit('/events');
    await entries(page).first().waitFor();
    await page.getByRole('radio', { name: 'alerts' }).check({ force: true });
    await page.waitForURL(/kind=alerts/);
    await expect.poll(() => entries(page).count()).toBe(1);
    await page.getByRole('radio', { name: 'all' }).check({ force: true });
    await page.getByRole('searchbox', { name: 'Search events' }).fill('NODE-7 reconnected');
    await expect.poll(() => entries(page).count()).toBe(1);
    await page.getByRole('searchbox', { name: 'Search events' }).fill('nothing like this');
    await page.getByText('No matching events').waitFor();
    await page.goto(`${server.url}/jobs/42/events?times=absolute`);
    const time = page.locator('.events time').first();
    await time.filter({ hasText: /^(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d$/ }).waitFor();
    expect(await page.getByRole('radio', { name: 'nodes' }).count()).toBe(0);
  });
});

describe('ranks', () => {
  it('are colored by memory and by waiting for data', async () => {
    const page = await visit('/jobs/42/ranks?color=step%20time');
    const hottest = () => page.locator('.rank.heat-7').getAttribute('data-rank');
    await page.locator('.rank[data-rank="11"].heat-5, .rank[data-rank="11"].heat-6').waitFor();
    await page.getByRole('radio', { name: 'memory' }).check({ force: true });
    await page.waitForURL(/color=memory/);
    await expect.poll(hottest).toBe('3');
    await page.getByRole('radio', { name: 'data stall' }).check({ force: true });
    await expect.poll(hottest).toBe('5');
    await page.getByText('longest data wait').waitFor();
  });
});

describe('ranks with a finding', () => {
  const finding = (word: 'stalled' | 'slow', ranks: number[]) => ({
    ...{ word, ranks, since_ms: NOW - MINUTE, node: 'gpu01', advice: '' },
    message: 'rank 5 has not reached all-reduce 123 of group tp4',
  });
  const find = (...findings: ReturnType<typeof finding>[]) => {
    jobOf(42).health = {
      word: findings[0]!.word,
      findings,
      steps_at_risk: 104,
      saved_step: 0,
      at_risk_since_ms: 0,
    };
  };

  it('are marked as the finding says, and the rank at fault is open', async () => {
    find(finding('stalled', [5]));
    const page = await visit('/jobs/42/ranks');
    await page.locator('.named-ranks', { hasText: 'Stalled: rank 5 on gpu01' }).waitFor();
    const culprit = page.locator('.rank.condition-culprit.bad[data-rank]');
    expect(await culprit.getAttribute('aria-label')).toBe('Rank 5, running, at fault');
    expect(await culprit.getAttribute('aria-pressed')).toBe('true');
    const detail = page.getByRole('region', { name: 'Rank 5', exact: true });
    await detail.getByText('Rank 5 has not reached all-reduce 123').waitFor();
    const legend = page.getByRole('list', { name: 'Legend' }).getByRole('listitem');
    expect(await legend.allTextContents()).toEqual([
      '!at fault: rank 5',
      '‖waiting for rank 5: 15 ranks',
    ]);
  });

  it('are marked on a map of a measure, with the ratio that the controller found', async () => {
    find(finding('slow', [11]));
    server.rankChanges.set(11, { slow_ratio: 1.31 });
    const page = await visit('/jobs/42/ranks?color=compute');
    await page.locator('.named-ranks', { hasText: 'Slow: rank 11 on gpu02 (1.31×)' }).waitFor();
    await page.locator('.rank.heat-5.bad[data-rank="11"]', { hasText: '!' }).waitFor();
    await page.getByRole('list', { name: 'Legend' }).getByText('at fault: rank 11').waitFor();
  });

  it('tells the failed rank from the stopped ones, and unknown from 0', async () => {
    const job = jobOf(42);
    job.attempts = [job.attempts[0]!];
    job.state = 'failed';
    job.spec!.command = ['python', 'train.py'];
    const nothing = { step: 0, step_seconds: 0, data_stall_seconds: 0, last_progress_ms: 0 };
    for (let rank = 0; rank < 16; rank++) {
      const ended = { ...nothing, step_time: undefined, tp: 0, dp: rank };
      server.rankChanges.set(rank, { ...ended, state: 'stopped', exit_code: 143 });
    }
    server.rankChanges.set(11, { ...server.rankChanges.get(11), state: 'failed', signal: 9 });
    const page = await visit('/jobs/42/ranks');
    await page.getByText('stopped by the controller: 15 ranks').waitFor();
    expect(await page.locator('.rank.bad[data-rank]').allTextContents()).toEqual(['11!']);
    const detail = page.getByRole('region', { name: 'Rank 11', exact: true });
    for (const name of ['Step', 'Step time', 'Data wait', 'Last progress']) {
      await detail.getByText(`${name}—`, { exact: true }).waitFor();
    }
    await page.getByText('attempt 1 · 16 ranks', { exact: true }).waitFor();
    expect(await page.getByText('Group by').count()).toBe(0);
  });
});

describe('a step', () => {
  it('has a layer for each of its parts, with the values in a legend', async () => {
    const page = await visit('/jobs/42');
    const panel = page.getByRole('region', { name: 'Step time by part' });
    const names = panel.locator('.line-legend li');
    await names.first().waitFor();
    expect((await names.allTextContents()).map((text) => text.replace(/ [\d.]+ m?s$/, ''))).toEqual(
      ['Compute', 'Optimizer', 'Wait for tp', 'Wait for dp', 'Wait for all ranks'],
    );
    const { width, height } = (await panel.locator('.u-over').boundingBox())!;
    await panel.locator('.u-over').hover({ position: { x: width / 2, y: height / 2 } });
    await panel.locator('.reading .at', { hasText: 'step ' }).waitFor();
    // The legend shows the parts, the sum shows the step time, and neither shows edges of layers.
    await panel.locator('.reading', { hasText: /sum 8\.\d s/ }).waitFor();
    await names.filter({ hasText: /^Optimizer 3\d\d ms$/ }).waitFor();
  });

  it('tells the slow rank by its compute, and shows its parts', async () => {
    const page = await visit('/jobs/42/ranks?color=compute');
    await page.locator('.rank[data-rank="11"]').waitFor();
    expect(await page.locator('.named-ranks').count()).toBe(0);
    await page.locator('.rank[data-rank="11"].heat-5').click();
    const detail = page.getByRole('region', { name: 'Rank 11', exact: true });
    await detail.locator('.part', { hasText: 'Compute7.4 s' }).waitFor();
    expect(await detail.locator('.part').count()).toBe(5);
    await page.getByRole('radio', { name: 'waits' }).check({ force: true });
    await page.getByText('longest wait in a step').waitFor();
  });
});

describe('a job whose ranks wait for one that does not come', () => {
  it('says so in its header, and which operation each rank waits in', async () => {
    const { pending, flights } = server.cluster;
    pending.set(42, {
      code: 'stalled',
      message: 'rank 5 has not reached all-reduce 123 of group tp4',
      advice: '`trainyard logs 42 --rank 5 --tail 20` shows its last output',
      queue_position: 0,
      blocking_job_id: 0,
      promised_ms: 0,
      ...NO_ESTIMATE,
      promises: [],
    });
    const operation = { group: 'tp4', ranks: '4-5', sequence: 123, operation: 'all-reduce' };
    const entered_ms = NOW - 40_000;
    flights.set(4, [{ ...operation, bytes: 4096, queued_ms: entered_ms, entered_ms }]);
    const page = await visit('/jobs/42');
    const reason = page.locator('.job-header .reason.tone-warn');
    await reason.filter({ hasText: 'rank 5 has not reached' }).waitFor();
    await page.goto(`${server.url}/jobs/42/ranks?rank=4`);
    const wait = /^all-reduce 123 of group tp4 \(ranks 4-5\), entered \d+\w ago$/;
    await page.getByText(wait).waitFor();
  });
});

describe('the output of ranks', () => {
  it.each([LAPTOP, { width: 1440, height: 900 }])('fits into the window: %o', async (viewport) => {
    const page = await visit('/jobs/42/logs', viewport);
    await page.locator('.log-row').first().waitFor();
    const { page: whole, pane, bottom } = await page.evaluate(() => {
      const log = document.querySelector('.log')!;
      return {
        page: document.documentElement.scrollHeight - innerHeight,
        pane: log.clientHeight,
        bottom: log.getBoundingClientRect().bottom,
      };
    });
    expect(whole).toBeLessThanOrEqual(0);
    expect(pane).toBeGreaterThan(150);
    expect(bottom).toBeGreaterThan(viewport.height - 60);
  });
});

describe('a job submitted again', () => {
  it('goes on from its newest checkpoint, or says that it does not', async () => {
    jobOf(42).state = 'stopped';
    const page = await visit('/jobs/42');
    await page.getByRole('button', { name: 'Submit again…' }).click();
    const dialog = page.getByRole('dialog');
    const start = 'The new job starts at step 3,000, from /ckpt/llama3-8b-c4/step-3000.';
    await dialog.getByText(start).waitFor();
    await dialog.getByText(' checkpoint.resume_from=').waitFor();
    const box = dialog.getByRole('checkbox', { name: /Resume from the checkpoint/ });
    const sent = page.waitForRequest((r) => r.method() === 'POST');
    await box.uncheck();
    await dialog.getByText('The new job starts at step 0.').waitFor();
    await box.check();
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    const { overrides } = (await sent).postDataJSON() as { overrides: string[] };
    expect(overrides).toContain('checkpoint.resume_from=/ckpt/llama3-8b-c4/step-3000');
  });

  it('says that it begins anew where there is no checkpoint', async () => {
    const page = await visit('/jobs/40');
    await page.getByRole('button', { name: 'Submit again…' }).click();
    await page.getByText('has no checkpoint. The new job starts at step 0.').waitFor();
  });
});
