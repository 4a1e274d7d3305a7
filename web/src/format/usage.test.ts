import { expect, it } from 'vitest';
import { gpuHourPrice, hours, money } from './usage';

const cost = (amount: number, currency = 'USD') => ({ amount, currency, gpu_hour_price: 2.1 });

it('formats GPU time in hours', () => {
  expect(hours(4_442_400)).toBe('1,234.0');
  expect(hours(359)).toBe('<0.1');
  expect(hours(360)).toBe('0.1');
  expect(hours(0)).toBe('0.0');
});

it('formats amounts with two digits and the currency', () => {
  expect(money(cost(1259.138))).toBe('1,259.14 USD');
  expect(money(cost(3, ''))).toBe('3.00');
  expect(money(undefined)).toBe('—');
});

it('formats the price as it was configured', () => {
  expect(gpuHourPrice(cost(0))).toBe('2.1 USD per GPU-hour');
  expect(gpuHourPrice(cost(0, ''))).toBe('2.1 per GPU-hour');
});
