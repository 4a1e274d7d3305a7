import type { JsonNumber } from '../api/types';
import { measured, notFinite } from '../format/numbers';

// A measured value. Non-finite values are red, since training does not recover from them. 0 means
// no value.
export function Measured({ value }: { value: JsonNumber | undefined }) {
  const odd = notFinite(value);
  if (odd !== undefined) return <span class="not-finite tone-bad">{odd}</span>;
  return <>{measured(typeof value === 'number' && value !== 0 ? value : undefined)}</>;
}
