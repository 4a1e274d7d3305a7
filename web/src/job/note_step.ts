// The step to which a new note belongs: the step under the cursor, or the step that the user has
// clicked.
import { signal } from '@preact/signals';
import type { Job, Series } from '../api/types';
import { interpolate } from '../chart/markers';
import type { Axis } from '../router/url';
import { figuresOf } from './progress';

// undefined while the cursor is on no curve.
export const cursorStep = signal<number | undefined>(undefined);

// Called when the user leaves the curves, because the next curves may belong to another job.
export function forgetCursor(): void {
  cursorStep.value = undefined;
}

export interface ChosenStep {
  job: number;
  step: number;
}
export const chosenStep = signal<ChosenStep | undefined>(undefined);

// Returns the step at a position of an axis; undefined outside the curve of `main`.
export function stepAt(
  x: number,
  axis: Axis,
  main: Pick<Series, 'steps' | 'x'> | undefined,
): number | undefined {
  const step = axis === 'step' ? x : main && interpolate(main.x, main.steps, x);
  return step === undefined ? undefined : Math.max(0, Math.round(step));
}

// Returns the step with which the form of a new note begins. If the user has chosen no step, this
// is the newest step.
export function firstStep(job: Job): number {
  const chosen = chosenStep.value;
  return chosen?.job === job.id ? chosen.step : figuresOf(job).step;
}
