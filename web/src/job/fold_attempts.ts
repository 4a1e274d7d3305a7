// Groups consecutive attempts that failed in the same way. Pure functions.
import type { Attempt, Verdict } from '../api/types';
import { plainWords } from '../format/words';

// At least this many equal attempts form a group.
const FEWEST_EQUAL = 3;

// Returns equal texts for attempts that failed in the same way, regardless of the rank; undefined
// for an attempt without a failure.
function failureKey({ state, verdict }: Attempt): string | undefined {
  if (state !== 'ended' || !verdict) return undefined;
  const { cause, exit_code: code, signal, error_line: line } = verdict;
  if (['unspecified', 'completed', 'stopped'].includes(cause)) return undefined;
  return `${cause}/${code}/${signal}/${line}`;
}

// Returns the attempts in the order given, with equal neighbors in one group. Each group has one
// attempt or at least FEWEST_EQUAL.
export function foldAttempts(attempts: readonly Attempt[]): Attempt[][] {
  const runs: Attempt[][] = [];
  for (const attempt of attempts) {
    const run = runs.at(-1);
    const key = failureKey(attempt);
    if (run && key !== undefined && key === failureKey(run[0] as Attempt)) run.push(attempt);
    else runs.push([attempt]);
  }
  return runs.flatMap((run) =>
    run.length >= FEWEST_EQUAL ? [run] : run.map((attempt) => [attempt]),
  );
}

// Returns a text such as "exited with code 1".
export function failureWords({ cause, exit_code: code, signal }: Verdict): string {
  if (cause === 'rank_exited') return `exited with code ${code}`;
  if (cause === 'rank_signaled') return `terminated by signal ${signal}`;
  return plainWords(cause);
}
