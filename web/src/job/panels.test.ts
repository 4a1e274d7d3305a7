import { describe, expect, it } from 'vitest';
import { offeredKeys, panelsFor } from './panels';

describe('panels', () => {
  it('shows what the job has, then what was asked for', () => {
    const known = ['loss', 'val_loss', 'lr', 'entropy', 'tokens'];
    expect(panelsFor(known, ['entropy', 'absent', 'loss']).map(({ title }) => title)).toEqual([
      'Loss',
      'Learning rate',
      'entropy',
    ]);
    expect(offeredKeys(known)).toEqual(['entropy']);
  });

  it('shows the input and the documents of a data job', () => {
    const known = ['bytes', 'bytes_per_second', 'documents', 'dropped_documents'];
    expect(panelsFor(known, []).map(({ title }) => title)).toEqual([
      'Input per second',
      'Documents',
    ]);
    expect(offeredKeys(known)).toEqual(['bytes']);
  });

  it('shows the parts of steps when it has their compute, and offers each otherwise', () => {
    const whole = ['compute_seconds', 'pp_wait_seconds'];
    expect(panelsFor(whole, whole).map(({ title }) => title)).toEqual(['Step time by part']);
    expect(offeredKeys(whole)).toEqual([]);
    const lone = ['pp_wait_seconds'];
    expect(offeredKeys(lone)).toEqual(lone);
    expect(panelsFor(lone, lone).map(({ title }) => title)).toEqual(lone);
  });
});
