import type { JsonNumber } from '../api/types';
import { measured, notFinite } from '../format/numbers';

// A measured value; one that is not finite is red, since training does not recover from it by
// itself. 0 stands for none.
export function Measured({ value }: { value: JsonNumber | undefined }) {
  const odd = notFinite(value);
  if (odd !== undefined) return <span class="not-finite tone-bad">{odd}</span>;
  return <>{measured(typeof value === 'number' && value !== 0 ? value : undefined)}</>;
}
