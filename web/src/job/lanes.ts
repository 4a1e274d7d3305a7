// Stretches of a job's time as places on a bar. Pure.
import type { Ledger, LedgerPhase } from '../api/types';

export interface Lane {
  phase: LedgerPhase;
  attempt: number;
  // Parts of the whole, 0 to 1.
  left: number;
  width: number;
  seconds: number;
}

// `begin` and `end` bound the bar; what goes on ends at `end`.
export function lanesOf(ledger: Ledger, begin: number, end: number): Lane[] {
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
    .filter((lane) => lane.width > 0);
}

// Shares of the wall time, largest first; they sum to 1.
export function sharesOf(ledger: Ledger): { phase: LedgerPhase; seconds: number; share: number }[] {
  const phases = ledger.phases.map(({ phase, seconds }) => ({
    phase,
    seconds: typeof seconds === 'number' ? seconds : 0,
  }));
  const whole = phases.reduce((sum, { seconds }) => sum + seconds, 0) || 1;
  return phases.map((entry) => ({ ...entry, share: entry.seconds / whole }));
}
