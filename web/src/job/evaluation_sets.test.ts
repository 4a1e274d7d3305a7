import { describe, expect, it } from 'vitest';
import { evaluationKeys, evaluationOf } from './evaluation_sets';

describe('evaluation sets', () => {
  it('are those with a perplexity, the validation set first', () => {
    const known = ['code_loss', 'code_perplexity', 'arxiv_loss', 'arxiv_perplexity', 'val_loss'];
    expect(evaluationKeys(known)).toEqual(['val_loss', 'arxiv_loss', 'code_loss']);
  });

  it('do not include other losses, or those of the training data', () => {
    const known = ['loss', 'router_loss', 'train_loss', 'train_perplexity', 'test_loss', '_loss'];
    expect(evaluationKeys(known)).toEqual(['test_loss']);
  });

  it('have a newest loss, and a lowest loss with its step', () => {
    const series = { steps: [10, 20, 30], mean: [3, 2, 'NaN'], last: [3, 2, 'NaN'] };
    expect(evaluationOf(series as never)).toEqual({ last: 'NaN', best: { loss: 2, step: 20 } });
    expect(evaluationOf(undefined)).toEqual({ last: undefined, best: undefined });
  });
});
