import { describe, expect, it } from 'vitest';
import { ownSteps, stepBefore } from './attempt_steps';

const attempt = (number: number, resume_step: number, last_step: number, first_step = 0) => ({
  number,
  resume_step,
  last_step,
  first_step,
});

it('prefers the first reported step to that of the checkpoint', () => {
  expect(stepBefore(attempt(1, 100, 200))).toBe(100);
  expect(stepBefore(attempt(1, 100, 200, 61))).toBe(60);
});

describe('the steps of an attempt', () => {
  const attempts = [attempt(1, 0, 2210), attempt(2, 2000, 2000), attempt(3, 1500, 3104)];

  it('end where a later attempt began', () => {
    expect(ownSteps(attempts, 1)).toEqual({ first: 1, last: 1500 });
    expect(ownSteps(attempts.slice(0, 1), 1)).toEqual({ first: 1, last: Infinity });
  });

  it('do not end where an attempt began that trained no step', () => {
    expect(ownSteps(attempts.slice(0, 2), 1)).toEqual({ first: 1, last: Infinity });
  });

  it('have no end for the newest attempt', () => {
    expect(ownSteps(attempts, 3)).toEqual({ first: 1501, last: Infinity });
  });

  it('are unknown for an attempt that does not exist', () => {
    expect(ownSteps(attempts, 4)).toBeUndefined();
  });
});
