import { expect, it } from 'vitest';
import { heartbeatTimes, newestHeartbeat } from './heartbeat_times';

it('takes the newer heartbeat of a node, from the response or from the stream', () => {
  const asked = heartbeatTimes([{ id: 'a', last_heartbeat_ms: 50 }]);
  expect(newestHeartbeat({ id: 'a', last_heartbeat_ms: 10 }, asked)).toBe(50);
  expect(newestHeartbeat({ id: 'a', last_heartbeat_ms: 60 }, asked)).toBe(60);
  expect(newestHeartbeat({ id: 'b', last_heartbeat_ms: 7 }, asked)).toBe(7);
});
