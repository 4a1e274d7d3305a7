import { expect, it } from 'vitest';
import { heardTimes, newestHeard } from './heard';

it('takes whichever heard a node last: the answer or the stream', () => {
  const asked = heardTimes([{ id: 'a', last_heard_ms: 50 }]);
  expect(newestHeard({ id: 'a', last_heard_ms: 10 }, asked)).toBe(50);
  expect(newestHeard({ id: 'a', last_heard_ms: 60 }, asked)).toBe(60);
  expect(newestHeard({ id: 'b', last_heard_ms: 7 }, asked)).toBe(7);
});
