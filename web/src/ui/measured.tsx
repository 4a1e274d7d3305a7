import type { JsonNumber } from '../api/types';
import { measured, notFinite } from '../format/numbers';

// Shows a measured value. 0 means that there is no value, and is shown as a dash. A non-finite
// value is red, because training does not recover from it.
export function Measured({ value }: { value: JsonNumber | undefined }) {
  const odd = notFinite(value);
  if (odd !== undefined) return <span class="not-finite tone-bad">{odd}</span>;
  return <>{measured(typeof value === 'number' && value !== 0 ? value : undefined)}</>;
}
