import { describe, expect, it } from 'vitest';
import type { Series } from '../api/types';
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
  it('has a line for each that the job has, in the order of the panel', () => {
    const found = [
      series('pp_wait_seconds'),
      series('tp_wait_seconds', { mean: [] }),
      series('compute_seconds', { smoothed: [7, 7] }),
      series('compute_seconds', { redone: true }),
    ];
    const curves = panelCurves(parts, found, [], false);
    expect(curves.map(({ label }) => label)).toEqual(['Compute', 'Pipeline bubble']);
    expect(curves.map(({ role }) => role)).toEqual(['raw', 'raw']);
    expect(curves.map(({ y }) => y)).toEqual([
      [7, 7],
      [1, 2],
    ]);
  });

  it('has no two curves of the same look, and the same look for every job', () => {
    const all = panelCurves(
      parts,
      parts.keys.map((key) => series(key)),
      [],
      false,
    );
    const looks = all.map(({ color, dash }) => `${color % RUN_COLORS} ${dash}`);
    expect(new Set(looks).size).toBe(parts.keys.length);
    const [checkpoint] = panelCurves(parts, [series('checkpoint_wait_seconds')], [], false);
    expect(checkpoint).toEqual(all.at(-1));
  });

  it('has the newest value for the legend', () => {
    const line = (mean: Series['mean']) =>
      panelCurves(parts, [series('compute_seconds', { mean })], [], false)[0]!;
    expect(newestOf(line([1, 3, 'NaN']))).toBe(3);
    expect(newestOf(line(['NaN']))).toBeUndefined();
  });
});
