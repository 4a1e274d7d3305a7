import { describe, expect, it } from 'vitest';
import type { Series } from '../api/types';
import type { Curve } from '../chart/curves';
import { RUN_COLORS } from '../chart/dashes';
import { newestOf, panelCurves } from './panel_curves';
import { DEFAULT_PANELS } from './panels';

const series = (key: string, change: Partial<Series> = {}) => {
  const mean = change.mean ?? [1, 2];
  return {
    key,
    x: mean.map((_, index) => index),
    mean,
    min: mean,
    max: mean,
    counts: mean.map(() => 5),
    smoothed: [],
    redone: false,
    attempt: 1,
    ...change,
  } as unknown as Series;
};
const panelOf = (title: string) => DEFAULT_PANELS.find((panel) => panel.title === title)!;
const parts = panelOf('Step time by part');

describe('a panel of one series', () => {
  it('has its band, its redone part and its points', () => {
    const loss = [series('loss'), series('loss', { redone: true })];
    const curves = panelCurves(panelOf('Loss'), loss, [series('val_loss')], false);
    expect(curves.map(({ role }) => role)).toEqual(['max', 'min', 'raw', 'redone', 'points']);
  });
});

describe('a panel of several series', () => {
  const mfu = panelOf('MFU');

  it('has a line for each that the job has, in the order of the panel', () => {
    const found = [
      series('mfu_causal', { smoothed: [7, 7] }),
      series('mfu', { mean: [] }),
      series('mfu_causal', { redone: true }),
      series('mfu'),
    ];
    const curves = panelCurves(mfu, found.slice(0, 3), [], false);
    expect(curves.map(({ label, role, y }) => [label, role, y])).toEqual([
      ['causal', 'raw', [7, 7]],
    ]);
    const both = panelCurves(mfu, [found[3]!, found[0]!], [], false);
    expect(both.map(({ label }) => label)).toEqual(['full', 'causal']);
  });

  it('has the newest value for the legend', () => {
    const line = (mean: Series['mean']) =>
      panelCurves(mfu, [series('mfu', { mean })], [], false)[0]!;
    expect(newestOf(line([1, 3, 'NaN']))).toBe(3);
    expect(newestOf(line(['NaN']))).toBeUndefined();
  });
});

describe('a panel of parts', () => {
  const lookOf = ({ color, dash }: Curve) => `${color % RUN_COLORS} ${dash}`;

  it('has a layer for each part that took time, in the order of the panel', () => {
    const found = [
      series('pp_wait_seconds'),
      series('tp_wait_seconds', { mean: [0, 0] }),
      series('compute_seconds', { mean: [5, 6] }),
    ];
    const curves = panelCurves(parts, found, [], false);
    expect(curves.map(({ label, role, y }) => [label, role, y])).toEqual([
      ['Compute', 'stack', [5, 6]],
      ['Pipeline bubble', 'stack', [6, 8]],
    ]);
  });

  it('has no two parts of the same look, and the same look for every job', () => {
    const all = panelCurves(
      parts,
      parts.keys.map((key) => series(key)),
      [],
      false,
    );
    expect(new Set(all.map(lookOf)).size).toBe(parts.keys.length);
    const [checkpoint] = panelCurves(parts, [series('checkpoint_wait_seconds')], [], false);
    expect(lookOf(checkpoint!)).toBe(lookOf(all.at(-1)!));
  });
});
