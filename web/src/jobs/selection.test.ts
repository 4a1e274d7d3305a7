import { describe, expect, it } from 'vitest';
import type { Job } from '../api/types';
import { afterClick, allOf, NOTHING, SELECTED_MAX, withoutDeleted } from './selection';

const job = (id: number) => ({ id }) as Job;
const ROWS = [9, 7, 5, 3, 1].map(job);
const many = (count: number) => Array.from({ length: count }, (_, index) => job(index + 1));
const ids = ({ jobs }: typeof NOTHING) => [...jobs.keys()];
const click = (selection: typeof NOTHING, id: number, range = false) =>
  afterClick(selection, job(id), ROWS, range);

describe('a click', () => {
  it('selects a job, and a second one removes it', () => {
    const one = click(NOTHING, 7);
    expect(ids(one)).toEqual([7]);
    expect(ids(click(click(one, 3), 7))).toEqual([3]);
  });

  it('with Shift selects the rows between, in both directions', () => {
    expect(ids(click(click(NOTHING, 7), 3, true))).toEqual([7, 5, 3]);
    expect(ids(click(click(NOTHING, 3), 9, true))).toEqual([3, 5, 7, 9]);
  });

  it('with Shift begins at the job that was clicked last', () => {
    const two = click(click(NOTHING, 9), 5);
    expect(ids(click(two, 1, true))).toEqual([9, 5, 3, 1]);
  });

  it('with Shift but without an earlier click, or with one that left the list, selects one', () => {
    expect(ids(click(NOTHING, 5, true))).toEqual([5]);
    expect(ids(click({ ...NOTHING, anchor: 88 }, 5, true))).toEqual([5]);
  });
});

describe('a selection', () => {
  it('has a limit, for all jobs and for a range', () => {
    const rows = many(SELECTED_MAX + 50);
    const all = allOf(rows);
    expect(all.jobs.size).toBe(SELECTED_MAX);
    expect(afterClick(all, job(SELECTED_MAX + 10), rows, false).jobs.size).toBe(SELECTED_MAX);
    const first = afterClick(NOTHING, job(1), rows, false);
    expect(afterClick(first, job(SELECTED_MAX + 40), rows, true).jobs.size).toBe(SELECTED_MAX);
  });

  it('still lets go of a job at the limit', () => {
    const all = allOf(many(SELECTED_MAX));
    expect(afterClick(all, job(3), [], false).jobs.has(3)).toBe(false);
  });

  it('loses deleted jobs', () => {
    const all = allOf(ROWS);
    expect(withoutDeleted(all, new Set())).toBe(all);
    expect(ids(withoutDeleted(all, new Set([5, 1, 2])))).toEqual([9, 7, 3]);
  });
});
