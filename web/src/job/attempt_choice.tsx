// Chooses the attempt whose data is shown.
import { setQuery } from '../router/router';
import { Choice } from '../ui/choice';

// Number of newest attempts that can be chosen with the mouse. The keys [ and ] reach all attempts.
const OFFERED = 6;

interface AttemptChoiceProps {
  numbers: readonly number[];
  chosen: number | undefined;
}

export function AttemptChoice({ numbers, chosen }: AttemptChoiceProps) {
  if (numbers.length <= 1) return null;
  return (
    <Choice
      label="Attempt"
      value={String(chosen ?? 'all')}
      choices={[
        ['all', 'all'],
        ...numbers.slice(-OFFERED).map((one): [string, string] => [String(one), String(one)]),
      ]}
      // A step of one attempt may not exist in another attempt.
      onChoose={(attempt) =>
        setQuery({ attempt: attempt === 'all' ? undefined : attempt, step: undefined })
      }
    />
  );
}
