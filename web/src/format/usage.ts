// Formats GPU time and money for people.
import type { Cost } from '../api/types';
import { ABSENT } from './numbers';

const HOUR_SECONDS = 3600;

const fixed = (value: number, digits: number) =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

// Formats seconds as hours: 4442400 -> "1,234.0". Less than a tenth of an hour is "<0.1".
export function hours(seconds: number): string {
  const value = seconds / HOUR_SECONDS;
  return value > 0 && value < 0.1 ? '<0.1' : fixed(value, 1);
}

const withCurrency = (text: string, currency: string) =>
  currency === '' ? text : `${text} ${currency}`;

// Such as "1,259.14 USD".
export function money(cost: Cost | undefined): string {
  if (typeof cost?.amount !== 'number') return ABSENT;
  return withCurrency(fixed(cost.amount, 2), cost.currency);
}

// Such as "2.1 USD per GPU-hour".
export function gpuHourPrice({ gpu_hour_price: price, currency }: Cost): string {
  return `${withCurrency(String(price), currency)} per GPU-hour`;
}
