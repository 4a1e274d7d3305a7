import { describe, expect, it } from 'vitest';
import type { Job, Node } from '../api/types';
import { entriesFor, type Known } from './palette_entries';

const KNOWN: Known = {
  jobs: [
    { id: 8, name: 'llama', state: 'running', health: { word: 'unsaved' } },
    { id: 7, name: 'gpt', state: 'paused' },
    { id: 6, name: 'old', state: 'failed' },
  ] as Job[],
  nodes: [
    { id: 'n-1', name: 'node-1', cordoned: false },
    { id: 'n-2', name: 'node-2', cordoned: true },
  ] as Node[],
  openJob: undefined,
  canAct: true,
};
const found = (text: string, change: Partial<Known> = {}) =>
  entriesFor(text, { ...KNOWN, ...change }).map((entry) => entry.text);

describe('entriesFor', () => {
  it('lists pages and jobs without a text', () => {
    expect(found('')).toHaveLength(12);
    expect(found(' ')[0]).toBe('Overview');
  });

  it('finds the page of a new job by what it does', () => {
    expect(found('submit recipe')).toEqual(['New job']);
  });

  it('finds nodes by name and by id', () => {
    expect(found('node-2')).toEqual(['node-2', 'Uncordon node-2']);
    expect(found('n-1')).toContain('node-1');
  });

  it('finds actions by their verb, and by the health of the job', () => {
    expect(found('stop')).toEqual(['Stop llama #8', 'Stop gpt #7']);
    expect(found('stop unsaved')).toEqual(['Stop llama #8']);
    expect(found('resume')).toEqual(['Resume gpt #7']);
    expect(found('pause gpt')).toEqual([]);
    expect(found('cordon')).toEqual(['Cordon node-1', 'Uncordon node-2']);
    expect(found('again old')).toEqual(['Submit old #6 again']);
  });

  it('finds views of jobs', () => {
    expect(found('logs llama')).toEqual(['Logs of llama #8']);
  });

  it('lists the open job first', () => {
    expect(found('logs of')[0]).toBe('Logs of llama #8');
    expect(found('logs of', { openJob: 6 })[0]).toBe('Logs of old #6');
  });

  it('offers no actions while the controller is away', () => {
    expect(found('stop', { canAct: false })).toEqual([]);
  });

  it('names the dialog that an action opens', () => {
    const [stop] = entriesFor('stop llama', KNOWN);
    expect(stop).toMatchObject({ href: '/jobs/8', asks: { subject: 'job 8', action: 'stop' } });
  });
});
