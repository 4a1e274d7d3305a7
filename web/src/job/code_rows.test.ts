import { describe, expect, it } from 'vitest';
import { codeRows } from './code_rows';

describe('codeRows', () => {
  it('shows commit and size', () => {
    const record = {
      files: 1204,
      bytes: 8_100_000,
      left_out_files: 3,
      commit: 'f00d',
      branch: 'main',
      dirty: true,
    };
    expect(codeRows({ snapshot: 'cafe', record })).toEqual([
      { name: 'Commit', value: 'f00d (main) with uncommitted changes' },
      { name: 'Files', value: '1,204 files, 7.7 MiB; 3 left out' },
    ]);
  });

  it('shows only the commit of code that runs in place', () => {
    const rows = codeRows({ in_place: true, path: '/shared/src', record: { commit: 'f00d' } });
    expect(rows).toEqual([
      { name: 'Commit', value: 'f00d' },
    ]);
  });

  it('has no rows without code', () => {
    expect(codeRows(undefined)).toEqual([]);
    expect(codeRows({ snapshot: '' })).toEqual([]);
  });
});
