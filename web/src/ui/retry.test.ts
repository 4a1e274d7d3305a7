import { expect, it } from 'vitest';
import { isTransient } from './retry';

it('retries transient failures, and not refusals', () => {
  for (const status of [0, 429, 500, 503]) expect(isTransient({ status }), `${status}`).toBe(true);
  for (const status of [400, 403, 404]) expect(isTransient({ status }), `${status}`).toBe(false);
});
