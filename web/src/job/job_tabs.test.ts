import { describe, expect, it } from 'vitest';
import type { Job } from '../api/types';
import { tabsOf } from './job_tabs';

const withModel = (model: object) => ({ spec: { model } }) as unknown as Pick<Job, 'spec'>;

describe('the tabs of a job', () => {
  it('contain experts only for models with experts', () => {
    expect(tabsOf(withModel({ num_experts: 8 }))).toContain('experts');
    expect(tabsOf(withModel({}))).not.toContain('experts');
    expect(tabsOf({} as Job)).not.toContain('experts');
  });

  it('contain data for data jobs and for training jobs without a command', () => {
    const job = (kind: string, command: string[]) =>
      ({ spec: { kind, command } }) as unknown as Pick<Job, 'spec'>;
    expect(tabsOf(job('data', [])).at(-1)).toBe('data');
    expect(tabsOf(job('train', [])).at(-1)).toBe('data');
    expect(tabsOf(job('train', ['python3']))).not.toContain('data');
    expect(tabsOf(job('train', ['python3']), 'data')).toContain('data');
  });

  it('contain elements only for arrays', () => {
    expect(tabsOf({ array: { elements: 3 } } as unknown as Job).at(-1)).toBe('elements');
    expect(tabsOf({} as Job)).not.toContain('elements');
  });

  it('contain the open one', () => {
    expect(tabsOf(withModel({}), 'experts')).toContain('experts');
  });
});
