// Texts about the controllers that share a database, and about this database. Pure functions.
import type { GetServerInfoResponse } from '../api/types';
import { bytes, count, plural } from '../format/numbers';
import { ago, clockTime, duration } from '../format/time';

// The limits of the controller's checks (controller/api/cluster/database_checks.cpp).
const REPORT_AGE_MAX_MS = 10_000;
const EVENTS_BEHIND_MAX = 100_000;
const REPLICA_LAG_MAX_MS = 60_000;

export interface ControllerRow {
  // Kind of the row, such as "standby".
  word: string;
  text: string;
  // Sentences; empty if all is well.
  problem: string;
}

type Database = NonNullable<GetServerInfoResponse['database']>;
type Standby = GetServerInfoResponse['standbys'][number];

const row = (word: string, text: string, ...problems: (string | false)[]): ControllerRow => ({
  word,
  text,
  problem: problems.filter(Boolean).join(' '),
});

function leaderRows({ leadership, version }: GetServerInfoResponse, nowMs: number) {
  if (!leadership) return [];
  const { leader, term, since_ms: since } = leadership;
  const time = `${clockTime(since, nowMs)} (${duration((nowMs - since) / 1000)})`;
  return [row('leader', `${leader}: term ${term} since ${time}, release ${version}`)];
}

function lagText(position: number, newest: number): string {
  if (position >= newest) return 'up to date';
  return position > 0 ? `${plural(newest - position, 'event')} behind` : 'has not read the log yet';
}

// The age of a report is measured at the newest read, because later reports are not known yet.
function standbyRow(standby: Standby, database: Database, nowMs: number): ControllerRow {
  const { address, version, seen_ms: seen, position } = standby;
  const { read_ms: readMs, newest_event: newest } = database;
  const age = readMs - seen;
  const report = `last report ${ago(seen, nowMs)}`;
  return row(
    'standby',
    `${address}: release ${version}, ${report}, ${lagText(position, newest)}`,
    age > REPORT_AGE_MAX_MS && `No report for ${duration(age / 1000)}: check its machine.`,
    position > 0 &&
      newest - position > EVENTS_BEHIND_MAX &&
      'Far behind: its take-over needs more time.',
  );
}

function standbyRows({ standbys }: GetServerInfoResponse, database: Database, nowMs: number) {
  if (standbys.length > 0) return standbys.map((one) => standbyRow(one, database, nowMs));
  return [row('standby', 'none')];
}

function databaseRow(database: Database, nowMs: number): ControllerRow {
  const { kind, version, host, schema, size_bytes: size, read_ms: readMs, error } = database;
  const of = `${kind} ${version}: ${database.database} on ${host}, schema ${schema}`;
  return row(
    'database',
    readMs > 0 ? `${of}, ${bytes(size)}` : 'not read yet',
    database.read_only && 'READ-ONLY: the server accepts no writes.',
    error !== '' && `Cannot be read: ${error}.`,
    error !== '' && readMs > 0 && `Last read: ${ago(readMs, nowMs)}.`,
  );
}

function durabilityRow(database: Database): ControllerRow {
  const { synchronous_commit: commit, synchronous_standby_names: names, fsync } = database;
  const waits = names ? `wait for replicas: ${names}` : 'wait for no replica';
  return row(
    'durability',
    `synchronous_commit is ${commit}, fsync is ${fsync ? 'on' : 'off'}; commits ${waits}`,
    !fsync && 'fsync is off: a power failure of the server can destroy the database.',
    commit === 'off' &&
      'synchronous_commit is off: a crash of the server loses acknowledged changes.',
    (names ? ['local', 'remote_write'].includes(commit) : database.replicas.length > 0) &&
      'A fail-over to a replica can lose acknowledged changes.',
  );
}

function replicaRow(replica: Database['replicas'][number]): ControllerRow {
  const { name, address, state, sync_state: sync, behind_bytes: size, lag_ms: lag } = replica;
  const who = `${name || '(no name)'}${address && ` at ${address}`}`;
  const delay = lag > 0 ? ` (${duration(lag / 1000)})` : '';
  return row(
    'replica',
    `${who}: ${state}, ${sync}, ${bytes(size)} behind${delay}`,
    lag > REPLICA_LAG_MAX_MS && 'Far behind: check its load, disk and network.',
  );
}

function replicaRows({ replicas, replicas_readable: isReadable }: Database, hasStandbys: boolean) {
  if (replicas.length === 0) {
    const problem = 'The cluster stops if the machine of the database fails.';
    return [row('replicas', 'none', hasStandbys && problem)];
  }
  if (isReadable) return replicas.map(replicaRow);
  return [row('replicas', `${replicas.length}; grant pg_read_all_stats to see their delay`)];
}

function connectionsRow(database: Database): ControllerRow {
  const { connections: used, connections_max: max, connections_of: owner } = database;
  return row(
    'connections',
    `${count(used)} of ${count(max)} in use (limit of the ${owner})`,
    10 * (max - used) < max && 'Nearly all are in use.',
  );
}

// Returns no rows if the stores are SQLite files.
export function controllerRows(info: GetServerInfoResponse, nowMs: number): ControllerRow[] {
  const { database, standbys } = info;
  if (!database) return [];
  const leader = leaderRows(info, nowMs);
  if (database.read_ms === 0) return [...leader, databaseRow(database, nowMs)];
  return [
    ...leader,
    ...standbyRows(info, database, nowMs),
    databaseRow(database, nowMs),
    durabilityRow(database),
    ...replicaRows(database, standbys.length > 0),
    connectionsRow(database),
  ];
}
