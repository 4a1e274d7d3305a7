import { describe, expect, it } from 'vitest';
import {
  byStep,
  canSend,
  draftProblem,
  isWrittenBy,
  noteCommandLine,
  noteMarkers,
  stepOf,
  writerOf,
  type Note,
} from './notes';

const note = (change: Partial<Note> = {}): Note => ({
  id: 1,
  step: 1200,
  text: 'lr halved',
  actor: 'user ada',
  actor_verified: true,
  time_ms: 5,
  ...change,
});

describe('notes', () => {
  it('name their writer, and know whether the user wrote them', () => {
    expect(writerOf(note())).toBe('ada');
    expect(writerOf(note({ actor: 'user ' }))).toBe('unknown user');
    expect(isWrittenBy(note(), 'ada')).toBe(true);
    expect(isWrittenBy(note(), 'ad')).toBe(false);
    expect(isWrittenBy(note({ actor: 'user ' }), '')).toBe(true);
  });

  it('are sorted by step, then in the order in which they were written', () => {
    const notes = [note({ id: 1, step: 9 }), note({ id: 2, step: 3 }), note({ id: 3, step: 3 })];
    expect(byStep(notes).map(({ id }) => id)).toEqual([2, 3, 1]);
  });

  it('are markers at their step with writer and text', () => {
    expect(noteMarkers([note()])).toEqual([
      { kind: 'note', step: 1200, timeMs: 0, text: 'ada at step 1,200: lr halved' },
    ]);
  });
});

describe('a draft', () => {
  it('needs a whole step within bounds', () => {
    expect(stepOf(' 1200 ')).toBe(1200);
    expect(stepOf('0')).toBe(0);
    for (const text of ['', '-1', '1.5', '1e3', 'many', '1000000000001']) {
      expect(stepOf(text)).toBeUndefined();
    }
  });

  it('is limited in bytes, not in characters', () => {
    expect(draftProblem({ step: '1', text: 'x'.repeat(500) })).toBeUndefined();
    expect(draftProblem({ step: '1', text: 'ü'.repeat(251) })).toContain('2 bytes too long');
    expect(draftProblem({ step: 'x', text: 'a' })).toContain('whole number');
  });

  it('can be sent once it has a text', () => {
    expect(canSend({ step: '1', text: ' ' })).toBe(false);
    expect(canSend({ step: '1', text: 'a' })).toBe(true);
    expect(canSend({ step: 'x', text: 'a' })).toBe(false);
  });

  it('has a command line that a shell reads as one text', () => {
    expect(noteCommandLine(7, { step: '3', text: "it's -x" })).toBe(
      "trainyard note 7 --step 3 'it'\\''s -x'",
    );
  });
});
