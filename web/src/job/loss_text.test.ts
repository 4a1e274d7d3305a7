import { expect, it } from 'vitest';
import { lossText } from './loss_text';

const curve = (change = {}) =>
  ({
    recent_loss: 2.5,
    previous_loss: 2.643,
    improvement_rate: 0.054,
    is_stagnant: false,
    window: 100,
    spike_count: 0,
    spike_steps: [],
    not_finite: 0,
    recommendation: 'normal',
    ...change,
  }) as never;

it('tells the means, their difference and that nothing spiked', () => {
  expect(lossText(curve())).toEqual({
    facts: ['mean 2.5 of the last 100 losses (before: 2.64)', 'fell by 5.40 %', 'no spikes'],
    advice: undefined,
  });
});

it('gives no advice on spikes alone', () => {
  const spiked = curve({ spike_count: 1, spike_steps: [7], recommendation: 'lower it' });
  expect(lossText(spiked).advice).toBeUndefined();
});

it('names the newest spikes and gives the advice', () => {
  const { facts, advice } = lossText(
    curve({
      improvement_rate: -0.01,
      is_stagnant: true,
      spike_count: 7,
      spike_steps: [1, 2, 3, 4, 5, 1251, 1260],
      not_finite: 2,
      recommendation: 'the loss is not finite: lower the learning rate',
    }),
  );
  expect(facts.slice(1)).toEqual([
    'rose by 1.00 %',
    '7 spikes, latest at step 5, 1,251, 1,260',
    '2 not finite',
  ]);
  expect(advice).toBe('the loss is not finite: lower the learning rate');
});
