import { describe, expect, it } from 'vitest';
import type { GetServerInfoResponse } from '../api/types';
import { controllerRows } from './controller_rows';

type Database = NonNullable<GetServerInfoResponse['database']>;

const NOW = new Date(2026, 10, 30, 12, 0, 0).getTime();
const LEADERSHIP = { leads: true, term: 7, leader: '10.0.0.1:7070', since_ms: NOW - 7_800_000 };
const STANDBY = {
  address: '10.0.0.2:7070',
  seen_ms: NOW - 8_000,
  version: '0.1.0',
  position: 1200,
};
const REPLICA = {
  name: 'db2',
  address: '10.0.0.9',
  state: 'streaming',
  sync_state: 'sync',
  behind_bytes: 2048,
  lag_ms: 0,
};
const DATABASE: Database = {
  kind: 'PostgreSQL',
  version: '15.20',
  host: 'db1',
  database: 'trainyard',
  schema: 'public',
  read_ms: NOW - 7_500,
  error: '',
  synchronous_commit: 'on',
  synchronous_standby_names: 'FIRST 1 (db2)',
  fsync: true,
  read_only: false,
  size_bytes: 1.2 * 2 ** 30,
  connections_of: 'server',
  connections: 12,
  connections_max: 97,
  replicas: [REPLICA],
  replicas_readable: true,
  newest_event: 1200,
};

function rows(database: Partial<Database> = {}, standbys = [STANDBY]) {
  const status = { ...DATABASE, ...database };
  const info = { version: '0.1.0', leadership: LEADERSHIP, standbys, database: status };
  return controllerRows(info as GetServerInfoResponse, NOW);
}

// Returns the texts of the rows with this word.
const texts = (word: string, ...view: Parameters<typeof rows>) =>
  rows(...view)
    .filter((row) => row.word === word)
    .map(({ text }) => text);

// Returns the problems, each after the word of its row.
const problems = (...view: Parameters<typeof rows>) =>
  rows(...view).flatMap(({ word, problem }) => (problem ? [`${word}: ${problem}`] : []));

describe('controllerRows', () => {
  it('has no rows for stores in SQLite files', () => {
    const info = { version: '0.1.0', leadership: LEADERSHIP, standbys: [] };
    expect(controllerRows(info as unknown as GetServerInfoResponse, NOW)).toEqual([]);
  });

  it('describes controllers and database without a problem', () => {
    expect(rows().map(({ word, text }) => `${word}: ${text}`)).toEqual([
      'leader: 10.0.0.1:7070: term 7 since 09:50:00 (2h 10m), release 0.1.0',
      'standby: 10.0.0.2:7070: release 0.1.0, last report 8s ago, up to date',
      'database: PostgreSQL 15.20: trainyard on db1, schema public, 1.2 GiB',
      'durability: synchronous_commit is on, fsync is on; ' +
        'commits wait for replicas: FIRST 1 (db2)',
      'replica: db2 at 10.0.0.9: streaming, sync, 2.0 KiB behind',
      'connections: 12 of 97 in use (limit of the server)',
    ]);
    expect(problems()).toEqual([]);
  });

  it('warns if there is no standby', () => {
    expect(texts('standby', {}, [])).toEqual(['none']);
    expect(problems({}, [])).toEqual([]);
  });

  it('states how far each standby is behind', () => {
    const lagOf = (position: number) => texts('standby', {}, [{ ...STANDBY, position }])[0];
    expect(lagOf(1199)).toMatch(/, 1 event behind$/);
    expect(lagOf(2)).toMatch(/, 1,198 events behind$/);
    // The position was read after the newest event.
    expect(lagOf(1201)).toMatch(/, up to date$/);
    expect(lagOf(0)).toMatch(/, has not read the log yet$/);
    const far = { newest_event: 101_201 };
    expect(problems(far)).toEqual(['standby: Far behind: its take-over needs more time.']);
    expect(problems({ newest_event: 101_200 })).toEqual([]);
    expect(problems(far, [{ ...STANDBY, position: 0 }])).toEqual([]);
  });

  it('counts the age of a report from the read', () => {
    const late = { ...STANDBY, seen_ms: DATABASE.read_ms - 29_000 };
    expect(problems({}, [STANDBY, late])).toEqual([
      'standby: No report for 29 s: check its machine.',
    ]);
    const old = { read_ms: NOW - 3_600_000 };
    expect(problems(old, [{ ...STANDBY, seen_ms: NOW - 3_601_000 }])).toEqual([]);
  });

  it('states the error of the newest read, and the age of the shown values', () => {
    expect(problems({ error: 'no answer within 2500 ms', read_ms: NOW - 40_000 })).toEqual([
      'database: Cannot be read: no answer within 2500 ms. Last read: 40s ago.',
    ]);
  });

  it('shows only leader and error before the first read', () => {
    const unread = { error: 'password authentication failed', read_ms: 0 };
    expect(rows(unread, []).map(({ word }) => word)).toEqual(['leader', 'database']);
    expect(texts('database', unread)).toEqual(['not read yet']);
    expect(problems(unread, [])).toEqual([
      'database: Cannot be read: password authentication failed.',
    ]);
  });

  it('names a server that accepts no writes, and exhausted connections', () => {
    expect(problems({ read_only: true, connections: 90 })).toEqual([
      'database: READ-ONLY: the server accepts no writes.',
      'connections: Nearly all are in use.',
    ]);
  });

  it('names each lowered durability', () => {
    expect(problems({ fsync: false, synchronous_commit: 'off' })).toEqual([
      'durability: fsync is off: a power failure of the server can destroy the database. ' +
        'synchronous_commit is off: a crash of the server loses acknowledged changes.',
    ]);
    const mayLose = ['durability: A fail-over to a replica can lose acknowledged changes.'];
    expect(problems({ synchronous_commit: 'remote_write' })).toEqual(mayLose);
    const asynchronous = { ...REPLICA, sync_state: 'async' };
    expect(problems({ synchronous_standby_names: '', replicas: [asynchronous] })).toEqual(mayLose);
  });

  it('describes replicas that are late, missing or unreadable', () => {
    const late = { ...REPLICA, name: '', address: '', lag_ms: 61_000 };
    expect(texts('replica', { replicas: [late] })).toEqual([
      '(no name): streaming, sync, 2.0 KiB behind (1m 01s)',
    ]);
    expect(problems({ replicas: [late] })).toEqual([
      'replica: Far behind: check its load, disk and network.',
    ]);
    const unreadable = { replicas_readable: false, replicas: [{ ...REPLICA, sync_state: '' }] };
    expect(problems(unreadable)).toEqual([]);
    expect(texts('replicas', unreadable)).toEqual([
      '1; grant pg_read_all_stats to see their delay',
    ]);
    const none = { replicas: [], synchronous_standby_names: '' };
    expect(problems(none)).toEqual([
      'replicas: The cluster stops if the machine of the database fails.',
    ]);
    expect(texts('replicas', none)).toEqual(['none']);
  });
});
