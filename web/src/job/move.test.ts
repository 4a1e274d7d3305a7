import { expect, it } from 'vitest';
import type { Job } from '../api/types';
import { isMovable, moveCommand, moveOf, placeText } from './move';

const jobOf = (change: object = {}): Job =>
  ({ id: 17, state: 'queued', queue: 'default', priority: 2, ...change }) as unknown as Job;

it('contains only what changes', () => {
  expect(moveOf(jobOf(), 'night', '2')).toEqual({ queue: 'night' });
  expect(moveOf(jobOf(), ' default ', '-5')).toEqual({ priority: -5 });
  expect(moveOf(jobOf(), 'night', '0')).toEqual({ queue: 'night', priority: 0 });
  expect(moveOf(jobOf(), 'default', '2')).toBeUndefined();
});

it('refuses invalid texts', () => {
  for (const priority of ['', 'NaN', '1.5', '1001', '-1001', '1e3']) {
    expect(moveOf(jobOf(), 'night', priority)).toBeUndefined();
  }
  expect(moveOf(jobOf(), ' ', '3')).toBeUndefined();
});

it('names the command', () => {
  expect(moveCommand(jobOf(), { queue: 'night', priority: -5 })).toBe(
    'trainyard queue move 17 --queue night --priority -5',
  );
});

it('does not apply to jobs that end', () => {
  expect(isMovable(jobOf())).toBe(true);
  expect(isMovable(jobOf({ state: 'stopping' }))).toBe(false);
  expect(isMovable(jobOf({ state: 'failed' }))).toBe(false);
});

it('names a place that is not usual', () => {
  expect(placeText(jobOf({ queue: 'night', priority: 5 }))).toBe('queue night, priority 5');
  expect(placeText(jobOf({ priority: -1 }))).toBe('priority -1');
  expect(placeText(jobOf({ priority: 0 }))).toBe('');
});
