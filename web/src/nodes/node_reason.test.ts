import { describe, expect, it } from 'vitest';
import type { Node } from '../api/types';
import { nodeReason } from './node_reason';

const node = (change: object) =>
  ({ word: 'ok', cordon_reason: '', state_reason: '', ...change }) as Node;

describe('nodeReason', () => {
  it('computes the age of the last heartbeat of a suspect node', () => {
    const suspect = node({ word: 'suspect', state_reason: 'no heartbeat for 3142 ms' });
    expect(nodeReason(suspect, 1_000, 1_000 + 27 * 60_000)).toBe('no heartbeat for 27m 00s');
    expect(nodeReason(suspect, 0, 5_000)).toBe('no heartbeat for 3142 ms');
  });

  it('says when the jobs leave a draining node', () => {
    const drain = { since_ms: 1, deadline_ms: 1_500_000, drained_ms: 0 };
    const draining = node({ word: 'draining', cordon_reason: 'new fan', drain });
    expect(nodeReason(draining, 1, 0)).toBe('jobs leave within 25m 00s: new fan');
    expect(nodeReason(draining, 1, 1_500_000)).toBe('jobs are leaving: new fan');
  });

  it('is the reason of the word', () => {
    const reasons = {
      cordon_reason: 'new fan',
      state_reason: 'peers stopped',
      health: { reason: 'disk full', quarantine: { reason: 'two failures' } },
    };
    const text = (word: Node['word']) => nodeReason(node({ ...reasons, word }), 1, 2);
    expect(text('ok')).toBe('');
    expect(text('unspecified')).toBe('');
    expect(text('cordoned')).toBe('new fan');
    expect(text('drained')).toBe('new fan');
    expect(text('unhealthy')).toBe('disk full');
    expect(text('quarantined')).toBe('two failures');
    expect(text('lost')).toBe('peers stopped');
  });
});
