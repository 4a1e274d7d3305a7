// Formats a change of the learning rate at a resume. Pure functions.
import type { Attempt } from '../api/types';
import { measuredText } from './numbers';

export type RateChange = NonNullable<Attempt['rate_change']>;

export function rateChangeText({ step, before, after }: RateChange): string {
  return (
    `learning rate changed at the resume from step ${step}: ` +
    `${measuredText(before)} before, ${measuredText(after)} after`
  );
}
