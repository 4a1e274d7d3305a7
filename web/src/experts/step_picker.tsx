// Chooses one of the kept steps with a slider.
import { count } from '../format/numbers';
import { query, setQuery } from '../router/router';

interface PickerProps {
  // Ascending.
  steps: readonly number[];
  step: number;
}

export function StepPicker({ steps, step }: PickerProps) {
  const last = steps.length - 1;
  const at = Math.max(0, steps.findLastIndex((kept) => kept <= step));
  const choose = (index: number) =>
    setQuery({ step: index >= last ? undefined : steps[index] });
  const follows = query.value.get('step') === null;
  return (
    <div class="step-picker">
      <label>
        Step
        <input
          type="range"
          min={0}
          max={last}
          value={at}
          disabled={last === 0}
          aria-valuetext={`step ${count(step)}`}
          onInput={(event) => choose(Number(event.currentTarget.value))}
        />
      </label>
      <button type="button" class="quiet" disabled={follows} onClick={() => choose(last)}>
        Newest
      </button>
    </div>
  );
}
