import { describe, expect, it } from 'vitest';
import { bestOf, metricText } from './best_checkpoint';

describe('the best checkpoint', () => {
  const judged = (step: number, metric: string, metric_value: number | 'NaN', damaged = false) => ({
    step,
    metric,
    metric_value,
    damaged,
  });

  it('is the lowest usable one of the newest metric, the first of equal ones', () => {
    const all = [
      judged(10, 'code_loss', 0.5),
      judged(20, 'val_loss', 2.5),
      judged(30, 'val_loss', 2.5),
      judged(40, 'val_loss', 2, true),
      judged(50, 'val_loss', 'NaN'),
      judged(60, '', 0),
    ];
    expect(bestOf(all)?.step).toBe(20);
    expect(bestOf([judged(60, '', 0)])).toBeUndefined();
    expect(bestOf([])).toBeUndefined();
  });

  it('is marked beside its value', () => {
    expect(metricText(judged(20, 'val_loss', 2.31041), true)).toBe('val_loss 2.3104 (best)');
    expect(metricText(judged(20, 'val_loss', 2.5), false)).toBe('val_loss 2.5000');
    expect(metricText(judged(60, '', 0), false)).toBe('');
  });
});
