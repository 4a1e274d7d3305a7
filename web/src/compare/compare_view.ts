// The URL of a comparison: which metrics are drawn, how runs are grouped, and which plot is open.
// Pure functions.
import { listIn, parseCurveView, type CurveView } from '../router/url';

// More charts would not fit on a screen.
export const METRICS_MAX = 6;

export const PLOTS = ['none', 'scatter', 'parallel'] as const;
export type Plot = (typeof PLOTS)[number];

export interface CompareView extends CurveView {
  metrics: string[];
  // The setting that groups and colors the runs.
  by: string | undefined;
  // True to draw the mean of each group instead of its runs.
  means: boolean;
  plot: Plot;
  // The axes of the scatter plot. `y` is the result that both plots show.
  x: string | undefined;
  y: string | undefined;
  // True to list settings that affect neither the loss nor the speed.
  allSettings: boolean;
  // True to sort the runs by the value of the first metric.
  byValue: boolean;
}

export function parseCompareView(query: URLSearchParams): CompareView {
  const metrics = [...new Set(listIn(query, 'key'))].slice(0, METRICS_MAX);
  const by = query.get('by') || undefined;
  return {
    ...parseCurveView(query),
    metrics: metrics.length > 0 ? metrics : ['loss'],
    by,
    means: by !== undefined && query.get('draw') === 'means',
    plot: PLOTS.find((plot) => plot === query.get('plot')) ?? 'none',
    x: query.get('px') || undefined,
    y: query.get('py') || undefined,
    allSettings: query.get('settings') === 'all',
    byValue: query.get('order') === 'value',
  };
}
