// Tests the controllers and their database on the page of nodes, with the fixture server.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { violationsOf } from './axe';
import { PHONE, WIDE, type Theme } from './browser';
import { FixtureBrowser } from './fixture_browser';
import { MINUTE, NOW } from './fixtures';
import type { FixtureServer } from './fixture_server';

const pages = new FixtureBrowser();
const LONG_HOST = 'controller-2.rack-17.gpu-cluster-east.research.example.org:7070';

type Database = NonNullable<FixtureServer['controllers']['database']>;

function database(part: Partial<Database> = {}): Database {
  return {
    kind: 'PostgreSQL',
    version: '15.20',
    host: 'db1',
    database: 'trainyard',
    schema: 'public',
    read_ms: NOW - 1_000,
    error: '',
    synchronous_commit: 'on',
    synchronous_standby_names: 'FIRST 1 (db2)',
    fsync: true,
    read_only: false,
    size_bytes: 3 * 2 ** 30,
    connections_of: 'server',
    connections: 12,
    connections_max: 97,
    replicas: [
      {
        name: 'db2',
        address: '10.0.0.9',
        state: 'streaming',
        sync_state: 'sync',
        behind_bytes: 0,
        lag_ms: 0,
      },
    ],
    replicas_readable: true,
    newest_event: 1_200,
    ...part,
  };
}

function controllers(part: Partial<Database> = {}): FixtureServer['controllers'] {
  return {
    leadership: { leads: true, term: 7, leader: '10.0.0.1:7070', since_ms: NOW - 130 * MINUTE },
    standbys: [{ address: LONG_HOST, seen_ms: NOW - 1_400, version: '0.1.0', position: 1_197 }],
    database: database(part),
  };
}

const section = (page: Page) => page.getByRole('region', { name: 'Controllers', exact: true });
const shown = (page: Page, hasText: RegExp) =>
  section(page).getByRole('listitem').filter({ hasText }).waitFor();

// Takes a picture for review if the variable SCREENSHOTS names a folder.
async function picture(page: Page, name: string): Promise<void> {
  const path = `${process.env['SCREENSHOTS']}/controllers-${name}.png`;
  if (process.env['SCREENSHOTS']) await page.screenshot({ path, fullPage: true });
}

describe.each<[Theme, typeof WIDE]>([
  ['light', WIDE],
  ['dark', PHONE],
])('the controllers, %s', (theme, viewport) => {
  it('are shown with their database', async () => {
    pages.server.controllers = controllers();
    const page = await pages.visit('/nodes', viewport, theme);
    for (const text of [
      /^leader ?10\.0\.0\.1:7070: term 7 since .* \(2h 1\dm\), release 0\.1\.0$/,
      /^standby.*: release 0\.1\.0, last report .*, 3 events behind$/,
      /^database ?PostgreSQL 15\.20: trainyard on db1, schema public, 3\.0 GiB$/,
      /commits wait for replicas: FIRST 1 \(db2\)$/,
      /^replica ?db2 at 10\.0\.0\.9: streaming, sync, 0 B behind$/,
      /^connections ?12 of 97 in use \(limit of the server\)$/,
    ]) {
      await shown(page, text);
    }
    expect(await section(page).locator('.tone-warn').count()).toBe(0);
    // A narrow window wraps long names.
    const { width } = (await section(page).locator('ul').boundingBox())!;
    expect(width).toBeLessThan(viewport.width);
    const inner = await section(page).locator('ul').evaluate((list) => list.scrollWidth);
    expect(inner).toBeLessThanOrEqual(Math.ceil(width));
    await picture(page, `${theme}-well`);
    expect(await violationsOf(page)).toEqual([]);
  });

  it('have each problem in words', async () => {
    const bad = { read_only: true, fsync: false, synchronous_commit: 'off', error: 'no answer' };
    pages.server.controllers = { ...controllers(bad), standbys: [] };
    const page = await pages.visit('/nodes', viewport, theme);
    for (const text of [
      'READ-ONLY: the server accepts no writes.',
      'Cannot be read: no answer.',
      'fsync is off: a power failure of the server can destroy the database.',
      'synchronous_commit is off: a crash of the server loses acknowledged changes.',
    ]) {
      await section(page).locator('p.tone-warn', { hasText: text }).waitFor();
    }
    await picture(page, `${theme}-problems`);
    expect(await violationsOf(page)).toEqual([]);
  });
});

it('are not shown for stores in SQLite files', async () => {
  const page = await pages.visit('/nodes');
  await page.getByRole('region', { name: 'Topology' }).waitFor();
  expect(await section(page).count()).toBe(0);
});
