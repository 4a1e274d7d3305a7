import { expect, it } from 'vitest';
import { collectiveWaitTexts } from './collective_waits';

it('lists the operations that a rank waits in, not those that it has not entered', () => {
  const flight = { group: 'tp0', ranks: '0-3', sequence: 123, bytes: 8, queued_ms: 900 };
  const flights = [
    { ...flight, operation: 'all-reduce', entered_ms: 1_000 },
    { ...flight, operation: 'all-gather', entered_ms: 0 },
    { ...flight, operation: '', entered_ms: 1_000 },
  ];
  expect(collectiveWaitTexts({ flights }, 13_000)).toEqual([
    'all-reduce 123 of group tp0 (ranks 0-3), entered 12s ago',
  ]);
});
