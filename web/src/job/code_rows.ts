// The code of a job, as rows of a table.
import type { CodeSpec } from '../api/types';
import { bytes, count } from '../format/numbers';
import type { NamedValue } from './named_values';

// Returns no rows if the job has no code, or nothing is known about it. The table of settings has
// the directory and the id of the snapshot.
export function codeRows(code: Partial<CodeSpec> | undefined): NamedValue[] {
  const record = code?.record;
  if (!record) return [];
  const branch = record.branch ? ` (${record.branch})` : '';
  const dirty = record.dirty ? ' with uncommitted changes' : '';
  const leftOut = record.left_out_files ? `; ${count(record.left_out_files)} left out` : '';
  const size = `${count(record.files)} files, ${bytes(record.bytes)}`;
  return [
    { name: 'Commit', value: record.commit && record.commit + branch + dirty },
    { name: 'Files', value: code.snapshot && size + leftOut },
  ].filter(({ value }) => value);
}
