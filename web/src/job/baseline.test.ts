import { describe, expect, it } from 'vitest';
import type { Series } from '../api/types';
import { baselineCurves, sameStart } from './baseline';
import { DEFAULT_PANELS, panelsFor } from './panels';

const series = (key: string, x = [1, 2], mean = x.map(() => 2)): Series =>
  ({
    ...{ key, x, mean, min: mean, max: mean, counts: x.map(() => 1), smoothed: [] },
    redone: false,
  }) as unknown as Series;
const panelOf = (title: string) => DEFAULT_PANELS.find((panel) => panel.title === title)!;
const own = [{ role: 'raw', label: '', x: [1, 2], y: [1, 1], color: 0 } as const];
const shown = { own, window: undefined };
const drawn = (title: string, ...all: Series[]) =>
  baselineCurves(panelOf(title), { name: 'base #7', series: all }, false, shown);

describe('a baseline', () => {
  it('is one dashed, named curve, with the losses of its evaluations', () => {
    const curves = drawn('Loss', series('loss'), series('val_loss'));
    expect(curves.map(({ label }) => label)).toEqual(['base #7', 'base #7: val']);
    expect(curves.map(({ role }) => role)).toEqual(['baseline', 'baseline']);
    expect(curves.every(({ dash }) => (dash ?? []).length > 0)).toBe(true);
    expect(curves[0]?.color).not.toBe(curves[1]?.color);
  });

  it('is the sum of the parts of a step, and a curve for each of several series', () => {
    const parts = drawn('Step time by part', series('compute_seconds'), series('tp_wait_seconds'));
    expect(parts.map(({ label, y }) => [label, y])).toEqual([['base #7: sum', [4, 4]]]);
    const mfu = drawn('MFU', series('mfu_causal'), series('mfu'));
    expect(mfu.map(({ label }) => label)).toEqual(['base #7: full', 'base #7: causal']);
  });

  it('has no curve where it has no series, and none before the job has one', () => {
    expect(drawn('Learning rate', series('loss'))).toEqual([]);
    const baseline = { name: 'b', series: [series('loss')] };
    const [curve] = baselineCurves(panelOf('Loss'), baseline, false, { ...shown, own: [] });
    expect(curve?.x).toEqual([]);
  });

  it('is cut to the range of the job, or to the window and the points around it', () => {
    const steps = series('loss', [0, 1, 2, 3, 4]);
    expect(drawn('Loss', steps)[0]?.x).toEqual([1, 2]);
    const baseline = { name: 'b', series: [steps] };
    const window = { from: 2.5, to: 3.5 };
    const [curve] = baselineCurves(panelOf('Loss'), baseline, false, { own, window });
    expect(curve?.x).toEqual([2, 3, 4]);
  });

  it('starts with the job on the axis of time', () => {
    const starts = (...first: number[]) => first.map((first_x) => ({ first_x })) as never;
    const other = { attempts: starts(100, 500), series: [series('loss', [100, 150])] };
    const [moved] = sameStart({ attempts: starts(1_000) }, other);
    expect(moved?.x).toEqual([1_000, 1_050]);
    expect(sameStart({ attempts: [] }, other)).toEqual([]);
  });
});

describe('panels of evaluation sets', () => {
  const known = ['loss', 'val_loss', 'code_loss', 'code_perplexity', 'router_loss'];

  it('are points on the losses, and a panel of their own when there are several', () => {
    const [loss, own] = panelsFor(known, []);
    expect(loss?.points).toEqual(['val_loss', 'code_loss']);
    expect(own).toMatchObject({ title: 'Evaluation losses', names: ['val', 'code'] });
    expect(panelsFor(['loss', 'val_loss'], []).map(({ title }) => title)).toEqual(['Loss']);
  });

  it('are shown for a job that only evaluates', () => {
    const [own] = panelsFor(['val_loss', 'lr'], []);
    expect(own).toMatchObject({ title: 'Evaluation losses', keys: ['val_loss'] });
  });
});
