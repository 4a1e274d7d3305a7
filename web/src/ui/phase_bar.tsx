// The phases of slot time as one small stacked bar.
import type { LedgerPhase } from '../api/types';
import { percent } from '../format/numbers';
import { PHASE_WORD, plainWords } from '../format/words';

export interface PhasePart {
  phase: LedgerPhase;
  // From 0 to 1.
  part: number;
}

export const phaseWord = (phase: LedgerPhase) => PHASE_WORD[phase] ?? plainWords(phase);

export function PhaseBar({ parts }: { parts: readonly PhasePart[] }) {
  return (
    <div class="ledger-bar">
      {parts.map(({ phase, part }) => (
        <i
          key={phase}
          class={`phase-${phase}`}
          style={{ width: `${100 * part}%` }}
          title={`${phaseWord(phase)} ${percent(part)}`}
        />
      ))}
    </div>
  );
}
