import { describe, expect, it } from 'vitest';
import type { Node } from '../api/types';
import { nodeReason } from './node_reason';
import { wordOf } from './node_word';

const node = (change: object) =>
  ({ state: 'ready', cordoned: false, cordon_reason: '', state_reason: '', ...change }) as Node;
const QUARANTINE = { reason: '2 starts failed', quarantine: { reason: 'two failures' } };

describe('wordOf', () => {
  it('is the worst word that applies', () => {
    const health = { reason: 'disk full' };
    expect(wordOf(node({}))).toBe('ok');
    expect(wordOf(node({ cordoned: true }))).toBe('cordoned');
    expect(wordOf(node({ cordoned: true, health }))).toBe('unhealthy');
    expect(wordOf(node({ cordoned: true, health: QUARANTINE }))).toBe('quarantined');
    expect(wordOf(node({ state: 'suspect', health: QUARANTINE }))).toBe('suspect');
    expect(wordOf(node({ state: 'lost', cordoned: true }))).toBe('lost');
  });
});

describe('nodeReason', () => {
  it('computes the age of the last heartbeat of a suspect node', () => {
    const suspect = node({ state: 'suspect', state_reason: 'no heartbeat for 3142 ms' });
    expect(nodeReason(suspect, 1_000, 1_000 + 27 * 60_000)).toBe('no heartbeat for 27m 00s');
    expect(nodeReason(suspect, 0, 5_000)).toBe('no heartbeat for 3142 ms');
  });

  it('is the reason of the word', () => {
    const text = (change: object) => nodeReason(node(change), 1, 2);
    expect(text({})).toBe('');
    expect(text({ cordoned: true, cordon_reason: 'new fan' })).toBe('new fan');
    expect(text({ health: { reason: 'disk full' } })).toBe('disk full');
    expect(text({ health: QUARANTINE })).toBe('two failures');
    expect(text({ state: 'lost', state_reason: 'peers stopped' })).toBe('peers stopped');
  });
});
