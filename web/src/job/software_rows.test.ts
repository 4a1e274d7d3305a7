import { describe, expect, it } from 'vitest';
import { softwareRows } from './software_rows';

describe('softwareRows', () => {
  it('lists what was reported', () => {
    const rows = softwareRows({
      attempt: 2,
      interpreter: '/venv/bin/python',
      interpreter_version: '3.11.2',
      driver: '',
      packages: ['numpy==2.1.0', 'torch==2.5.1'],
      packages_omitted: 3,
    });
    expect(rows).toEqual([
      { name: 'Interpreter', value: '/venv/bin/python' },
      { name: 'Python', value: '3.11.2' },
      { name: 'Packages', value: 'numpy==2.1.0 torch==2.5.1 and 3 more' },
    ]);
  });

  it('has no rows without a report', () => {
    expect(softwareRows(undefined)).toEqual([]);
    expect(softwareRows({ attempt: 0, packages: [] })).toEqual([]);
  });
});
