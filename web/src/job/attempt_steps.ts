// The steps of an attempt. Pure functions.
import type { Attempt } from '../api/types';

type Steps = Pick<Attempt, 'number' | 'first_step' | 'resume_step' | 'last_step'>;

// Returns the step from which the attempt started. The reports of the attempt are more precise than
// its checkpoint.
export const stepBefore = ({
  first_step: first,
  resume_step: step,
}: Pick<Attempt, 'first_step' | 'resume_step'>): number => (first > 0 ? first - 1 : step);

export interface StepRange {
  first: number;
  // Infinity for an attempt that no later attempt has replaced.
  last: number;
}

// Returns the steps whose records belong to the attempt: later attempts replace records from their
// first step on. Returns undefined if the attempt does not exist.
export function ownSteps(attempts: readonly Steps[], number: number): StepRange | undefined {
  const own = attempts.find((attempt) => attempt.number === number);
  if (!own) return undefined;
  // An attempt that ended before its first step has replaced nothing.
  const later = attempts.filter(
    (attempt) => attempt.number > number && attempt.last_step > stepBefore(attempt),
  );
  return { first: stepBefore(own) + 1, last: Math.min(Infinity, ...later.map(stepBefore)) };
}
