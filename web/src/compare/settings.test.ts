import { describe, expect, it } from 'vitest';
import type { Job } from '../api/types';
import { differencesOf, numberOf, numericKeys } from './settings';

const jobOf = (spec: object) => ({ spec, origins: [] }) as unknown as Job;

describe('differences between runs', () => {
  const jobs = [
    jobOf({
      name: 'a',
      optimizer: { lr: 1e-4 },
      train: { precision: 'bf16', steps: 9 },
      restart: { backoff: '1s' },
      checkpoint: { dir: '/a', resume_from: '/x' },
    }),
    jobOf({
      name: 'b',
      optimizer: { lr: 3e-4 },
      train: { precision: 'fp8', steps: 9 },
      restart: { backoff: '2s' },
      checkpoint: { dir: '/b' },
    }),
  ];

  it('separates settings that affect neither the loss nor the speed', () => {
    const { relevant, operational } = differencesOf(jobs);
    expect(relevant).toEqual(['optimizer.lr', 'train.precision', 'checkpoint.resume_from']);
    expect(operational).toEqual(['restart.backoff', 'checkpoint.dir']);
  });

  it('finds the numeric settings, also those that not every run sets', () => {
    const { relevant, values } = differencesOf(jobs);
    expect(numericKeys(relevant, values)).toEqual(['optimizer.lr']);
    const sparse = [new Map([['a', '1']]), new Map<string, string>()];
    expect(numericKeys(['a'], sparse)).toEqual(['a']);
  });

  it('reads numbers only', () => {
    expect(['3e-4', '512', 'true', '', ' ', undefined].map(numberOf)).toEqual([
      ...[3e-4, 512],
      ...[undefined, undefined, undefined, undefined],
    ]);
  });
});
