// The segments of a job's time, as positions on a bar. Pure functions.
import type { Ledger, LedgerPhase } from '../api/types';

export interface LedgerSegment {
  phase: LedgerPhase;
  attempt: number;
  // Position as a fraction of the bar, from 0 to 1.
  left: number;
  width: number;
  seconds: number;
}

// `begin` and `end`: the times at the ends of the bar. A segment that has not ended extends to
// `end`.
export function segmentsOf(ledger: Ledger, begin: number, end: number): LedgerSegment[] {
  const whole = Math.max(1, end - begin);
  return ledger.spans
    .map((span) => {
      const from = Math.max(begin, span.begin_ms);
      const to = Math.min(end, span.end_ms || end);
      return {
        phase: span.phase,
        attempt: span.attempt,
        left: (from - begin) / whole,
        width: (to - from) / whole,
        seconds: (to - from) / 1000,
      };
    })
    .filter((segment) => segment.width > 0);
}

export interface PhaseShare {
  phase: LedgerPhase;
  seconds: number;
  slotSeconds: number;
  share: number;
}

const numberOf = (value: unknown) => (typeof value === 'number' ? value : 0);

// Returns each phase's fraction of the wall time, largest first. The fractions add up to 1.
export function sharesOf(ledger: Ledger): PhaseShare[] {
  const phases = ledger.phases.map(({ phase, seconds, slot_seconds: slotSeconds }) => ({
    phase,
    seconds: numberOf(seconds),
    slotSeconds: numberOf(slotSeconds),
  }));
  const whole = phases.reduce((sum, { seconds }) => sum + seconds, 0) || 1;
  return phases.map((entry) => ({ ...entry, share: entry.seconds / whole }));
}
