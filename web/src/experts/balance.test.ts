import { describe, expect, it } from 'vitest';
import type { ExpertBalance, LayerBalance } from '../api/types';
import {
  LOAD_BOUNDS,
  busiestExpert,
  cellWords,
  heatOfLoad,
  lossWords,
  rangeOfHeat,
  worstWords,
} from './balance';

const layer = (number: number, load: number[], more: Partial<LayerBalance> = {}): LayerBalance => ({
  layer: number,
  balance: Math.max(1, ...load),
  load,
  ...more,
});

const balance = (...layers: LayerBalance[]): ExpertBalance => ({
  step: 40,
  time_ms: 0,
  attempt: 1,
  experts: 4,
  topk: 2,
  worst_layer: layers.at(-1)?.layer ?? 0,
  layers,
});

describe('the color of a load', () => {
  it('is neutral at the mean and symmetric around it', () => {
    expect(heatOfLoad(1)).toBe(3);
    expect([heatOfLoad(0.79), heatOfLoad(1.25)]).toEqual([2, 4]);
    expect([heatOfLoad(0.1), heatOfLoad(40)]).toEqual([0, LOAD_BOUNDS.length]);
  });

  it('is none for an expert without rows', () => {
    expect(heatOfLoad(0)).toBeUndefined();
    expect(heatOfLoad(0.004)).toBe(0);
  });

  it('has its bounds in the legend', () => {
    expect(rangeOfHeat(0)).toBe('below 0.25');
    expect(rangeOfHeat(3)).toBe('0.8 to 1.25');
    expect(rangeOfHeat(7)).toBe('4 or more');
  });
});

describe('the words about a balance', () => {
  it('name the worst layer with its expert and the limit', () => {
    expect(worstWords(balance(layer(1, [1, 1, 1, 1]), layer(2, [0.5, 0.25, 1.75, 1.5])))).toBe(
      'Layer 2 shares its load least evenly: expert 2 has 1.75 times the mean load (even: 1, ' +
        'worst possible: 2).',
    );
  });

  it('work without the loads of single experts', () => {
    const bare = layer(2, [], { balance: 1.5 });
    expect(worstWords(balance(bare))).toContain('the busiest expert has 1.5 times');
    expect(busiestExpert(bare)).toBeUndefined();
    expect(lossWords(balance(bare))).toEqual([]);
    expect(cellWords(bare, 3)).toBe('Layer 2, expert 3: load not reported');
  });

  it('count experts without rows and dropped choices', () => {
    const layers = [1, 2, 3, 4, 5].map((number) => layer(number, [0, 1, 1, 2]));
    expect(lossWords(balance(layers[0]!))).toEqual(['1 expert without rows, in layer 1.']);
    expect(lossWords(balance(...layers))).toEqual([
      '5 experts without rows, in layers 1, 2, 3, 4 and 1 more.',
    ]);
    const dropping = layer(7, [1, 1, 1, 1], { dropped: 0.125 });
    expect(lossWords(balance(dropping))).toEqual(["Layer 7 drops 12.5 % of its tokens' choices."]);
  });

  it('describe a cell', () => {
    const one = layer(3, [0, 1, 2.5, 0.5]);
    expect(cellWords(one, 0)).toBe('Layer 3, expert 0: no rows');
    expect(cellWords(one, 1)).toBe('Layer 3, expert 1: the mean load');
    expect(cellWords(one, 2)).toBe('Layer 3, expert 2: 2.5 times the mean load');
  });
});
