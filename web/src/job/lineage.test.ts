import { describe, expect, it } from 'vitest';
import type { LineageJob } from '../api/types';
import { relationText, relationsOf, treeOf, type Branch } from './lineage';

const none = { cloned_from: 0, children: [] };

describe('the relations of a job', () => {
  it('are undefined without any', () => {
    expect(relationsOf(none)).toBeUndefined();
  });

  it('name the checkpoint and the copied job', () => {
    const job = { ...none, resumed_from: { job_id: 12, step: 4_000 }, cloned_from: 9 };
    const relations = relationsOf(job);
    expect(relations?.resumedFrom).toEqual({ job: 12, step: ' (step 4,000)' });
    expect(relations?.clonedFrom).toBe(9);
  });

  it('name one job once, and no step that is unknown', () => {
    const job = { ...none, resumed_from: { job_id: 12, step: 0 }, cloned_from: 12 };
    const relations = relationsOf(job);
    expect(relations?.resumedFrom).toEqual({ job: 12, step: '' });
    expect(relations?.clonedFrom).toBeUndefined();
  });

  it('show the newest children', () => {
    const relations = relationsOf({ ...none, children: [1, 2, 3, 4, 5, 6, 7, 8] });
    expect(relations?.children).toEqual([3, 4, 5, 6, 7, 8]);
    expect(relations?.otherChildren).toBe(2);
  });
});

const one = (id: number, parent: number, resumed = false): LineageJob => ({
  job_id: id,
  name: `job-${id}`,
  state: 'running',
  parent_id: parent,
  resumed,
  step: resumed ? 4_000 : 0,
});

describe('a lineage', () => {
  const outline = ({ job, isOpen, below }: Branch): string => {
    const inner = below.length > 0 ? `(${below.map(outline).join(' ')})` : '';
    return `${job.job_id}${isOpen ? '*' : ''}${inner}`;
  };

  it('is a tree from the oldest ancestor', () => {
    const tree = treeOf({
      job: one(3, 2),
      ancestors: [one(2, 1), one(1, 0)],
      descendants: [one(4, 3), one(5, 3), one(6, 4)],
      more: false,
    });
    expect(tree && outline(tree)).toBe('1(2(3*(4(6) 5)))');
  });

  it('says how each job came from its parent', () => {
    expect(relationText(one(3, 2, true))).toBe('resumed from step 4,000');
    expect(relationText({ ...one(3, 2, true), step: 0 })).toBe('resumed');
    expect(relationText(one(3, 2))).toBe('cloned');
    expect(relationText(one(1, 0))).toBe('');
  });
});
