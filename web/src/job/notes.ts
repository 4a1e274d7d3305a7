// Notes on steps of a job. Pure functions.
import type { Job } from '../api/types';
import type { Marker } from '../chart/markers';
import { count } from '../format/numbers';
import { quoted } from '../format/shell';

export type Note = Job['notes'][number];

// The controller's limits on a note's text and on a step.
export const MAX_NOTE_BYTES = 500;
const MAX_STEP = 1_000_000_000_000;

const USER = 'user ';

// Returns the name of the writer; "unknown user" if the controller knows none.
export const writerOf = ({ actor }: Pick<Note, 'actor'>): string =>
  (actor.startsWith(USER) ? actor.slice(USER.length) : actor) || 'unknown user';

export const isWrittenBy = (note: Pick<Note, 'actor'>, user: string): boolean =>
  note.actor === USER + user;

// Sorts by step. Notes on one step keep the order in which they were written.
export const byStep = (notes: readonly Note[]): Note[] =>
  [...notes].sort((a, b) => a.step - b.step);

export const noteMarkers = (notes: readonly Note[]): Marker[] =>
  notes.map((note): Marker => ({
    kind: 'note',
    step: note.step,
    // The time at which the note was written is not the time of its step.
    timeMs: 0,
    text: `${writerOf(note)} at step ${count(note.step)}: ${note.text}`,
  }));

export interface Draft {
  step: string;
  text: string;
}

// Returns the step of a valid text such as "1200"; undefined for any other text.
export function stepOf(text: string): number | undefined {
  const digits = text.trim();
  const step = Number(digits);
  return /^\d+$/.test(digits) && step <= MAX_STEP ? step : undefined;
}

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

// Returns what is wrong with a draft, for the user; undefined if the draft can be sent. An empty
// text is not an error, because the user has not written it yet.
export function draftProblem({ step, text }: Draft): string | undefined {
  if (stepOf(step) === undefined) return 'The step must be a whole number, such as 1200.';
  const over = bytesOf(text) - MAX_NOTE_BYTES;
  if (over > 0) return `The note is ${over} bytes too long; at most ${MAX_NOTE_BYTES} are allowed.`;
  return undefined;
}

export const canSend = (draft: Draft): boolean =>
  draft.text.trim() !== '' && draftProblem(draft) === undefined;


export function noteCommandLine(job: number, { step, text }: Draft): string {
  return `trainyard note ${job} --step ${step.trim()} ${quoted(text.trim())}`;
}
