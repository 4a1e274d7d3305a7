import { describe, expect, it } from 'vitest';
import type { Curve, Value } from '../chart/curves';
import { colorsOf, groupCurves, groupName, groupsOf } from './groups';

describe('groups of runs', () => {
  it('are ordered by number, then by text, and the missing value comes last', () => {
    const groups = groupsOf(['10', undefined, '9', 'auto', '10']);
    expect(groups.map(groupName)).toEqual(['9', '10', 'auto', 'not set']);
    expect(groups.map(({ runs }) => runs)).toEqual([[2], [0, 4], [3], [1]]);
    expect(colorsOf(groups, 5)).toEqual([1, 3, 0, 2, 1]);
    expect(colorsOf(undefined, 3)).toEqual([0, 1, 2]);
  });
});

describe('the mean of a group', () => {
  const curve = (x: number[], y: Value[]): Curve => ({ role: 'raw', label: '', x, y, color: 0 });
  const [group] = groupsOf(['a', 'a']);
  const meanOf = (...curves: Curve[]) => {
    const [max, min, mean] = groupCurves([group!], curves);
    return { x: mean?.x, max: max?.y, min: min?.y, mean: mean?.y };
  };

  it('has a band that holds every point of its runs', () => {
    const drawn = meanOf(curve([0, 10, 20], [4, 2, 0]), curve([0, 5, 20], [6, 9, 6]));
    expect(drawn.x).toEqual([0, 5, 10, 20]);
    expect(drawn.max).toEqual([6, 9, 8, 6]);
    expect(drawn.min).toEqual([4, 3, 2, 0]);
    expect(drawn.mean).toEqual([5, 6, 5, 3]);
  });

  it('counts the runs that reached a step, and does not bridge gaps', () => {
    expect(meanOf(curve([0, 10], [4, 2]), curve([0], [6])).mean).toEqual([5, 2]);
    expect(meanOf(curve([0, 10], [4, 2]), curve([], [])).mean).toEqual([4, 2]);
    const gap = meanOf(curve([0, 10, 20], [4, null, 2]), curve([5], [1]));
    expect(gap.x).toEqual([0, 5, 10, 20]);
    expect(gap.mean).toEqual([4, 1, null, 2]);
  });

  it('has the color and the name of its group', () => {
    const groups = groupsOf(['b', 'a']);
    const curves = groupCurves(groups, [curve([1], [1]), curve([1], [2])]);
    expect(curves.map(({ role }) => role)).toEqual(['max', 'min', 'raw', 'max', 'min', 'raw']);
    expect(curves.map(({ color }) => color)).toEqual([0, 0, 0, 1, 1, 1]);
    expect(curves[2]).toMatchObject({ label: 'a', y: [2] });
  });
});
